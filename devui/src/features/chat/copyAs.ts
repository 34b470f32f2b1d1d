/** The conversation as a Python script. */
import { pythonLiteral } from "@/lib/copyAs"
import { textOfParts } from "@/lib/json"
import { isFilled, type Settings } from "./request"
import type { Turn } from "./tree"

export function pythonGenerate(
  model: string,
  { turns, text, system, config }: { turns: readonly Turn[]; text: string } & Settings,
): string {
  const history = turns.flatMap((turn) => [
    `Message.user(${JSON.stringify(turn.text)})`,
    ...(turn.reply.parts.length > 0
      ? [`Message.model(${JSON.stringify(textOfParts(turn.reply.parts))})`]
      : []),
  ])
  const options = [
    `model=${JSON.stringify(model)}`,
    ...(system.trim() === "" ? [] : [`system=${JSON.stringify(system)}`]),
    ...(history.length === 0
      ? []
      : [`messages=[\n            ${history.join(",\n            ")},\n        ]`]),
    ...(isFilled(config) ? [`config=${pythonLiteral(config, 2)}`] : []),
  ]
  return `import asyncio

from app import ai
${history.length === 0 ? "" : "from flowkit import Message\n"}

async def main():
    response = await ai.generate(
        ${JSON.stringify(text)},
        ${options.join(",\n        ")},
    )
    print(response.text)


asyncio.run(main())
`
}
