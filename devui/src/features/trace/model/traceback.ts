/**
 * A Python traceback in parts: its exceptions in the order they were raised, each with frames of the user and of libraries.
 *
 *     const chain = tracebackOf(error.stack)      // the last one is what was seen
 */
export interface Frame {
  file: string
  line: number
  function: string
  code: readonly string[]
  /** Not of the user's project: installed, of Python, or of flowkit. */
  library: boolean
}

export interface Raised {
  frames: readonly Frame[]
  /** `ValueError: no soup today`, with the notes below it. */
  message: string
  /** How it stands to the one before. */
  link: "cause" | "during" | undefined
}

const FRAME = /^ {2}File "(.+)", line (\d+), in (.+)$/
const CAUSE = "The above exception was the direct cause of the following exception:"
const DURING = "During handling of the above exception, another exception occurred:"
const LIBRARY =
  /site-packages|dist-packages|[\\/]lib[\\/]python3|^<frozen|[\\/]Python3\d+[\\/]Lib[\\/]|[\\/]flowkit(_\w+)?[\\/](ai|core|rag|tracing|server|cli|testing|schema|app\.py|plugin\.py)|[\\/]flowkit_\w+[\\/]/

/** Empty when the text is no Python traceback. */
export function tracebackOf(stack: string): readonly Raised[] {
  const chain: Raised[] = []
  let frames: Frame[] = []
  let message: string[] = []
  let link: Raised["link"]
  let inside = false
  const close = () => {
    if (frames.length > 0 || message.length > 0)
      chain.push({ frames, message: message.join("\n").trim(), link })
    frames = []
    message = []
    inside = false
  }
  for (const line of stack.split("\n")) {
    if (line.startsWith("Traceback (most recent call last)")) {
      inside = true
      continue
    }
    if (line === CAUSE || line === DURING) {
      close()
      link = line === CAUSE ? "cause" : "during"
      continue
    }
    const frame = message.length === 0 ? FRAME.exec(line) : null
    if (frame !== null) {
      const file = frame[1] as string
      frames.push({
        file,
        line: Number(frame[2]),
        function: frame[3] as string,
        code: [],
        library: LIBRARY.test(file),
      })
      continue
    }
    const last = frames.at(-1)
    if (message.length === 0 && last !== undefined && line.startsWith("    ")) {
      if (!/^\s*[~^]+\s*$/.test(line))
        frames[frames.length - 1] = { ...last, code: [...last.code, line.slice(4)] }
      continue
    }
    if (message.length === 0 && /^\s+\[Previous line repeated/.test(line)) continue
    if (inside || message.length > 0) {
      if (line !== "" || message.length > 0) message.push(line)
    }
  }
  close()
  return chain.some((raised) => raised.frames.length > 0) ? chain : []
}

/** Neighbouring frames of libraries together, so that they can be folded. */
export function folded(frames: readonly Frame[]): readonly { library: boolean; frames: readonly Frame[] }[] {
  const groups: { library: boolean; frames: Frame[] }[] = []
  for (const frame of frames) {
    const last = groups.at(-1)
    if (last?.library && frame.library) last.frames.push(frame)
    else groups.push({ library: frame.library, frames: [frame] })
  }
  return groups
}
