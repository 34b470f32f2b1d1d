/** Copies a text; the icon tells that it is done. */
import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"
import { Button, IconButton } from "./Button"
import { toast } from "./toast"

interface CopyButtonProps {
  text: string | (() => string)
  /** Its accessible name; by default "Copy". */
  label?: string | undefined
  /** Show the label beside the icon. */
  words?: boolean | undefined
  size?: "s" | "m" | undefined
}

export function CopyButton({ text, label = "Copy", words = false, size = "s" }: CopyButtonProps) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])

  const copy = async () => {
    if (await copyText(typeof text === "string" ? text : text())) setDone(true)
  }
  const icon = done ? <Check aria-hidden /> : <Copy aria-hidden />
  if (words)
    return (
      <Button size={size} icon={icon} onClick={copy}>
        {done ? "Copied" : label}
      </Button>
    )
  return <IconButton label={done ? "Copied" : label} size={size} icon={icon} onClick={copy} />
}

/** Put a text on the clipboard. Says so when that is not allowed; else `done`, where nothing else tells it. */
export async function copyText(text: string, done?: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    if (done !== undefined) toast({ title: done, tone: "ok" })
    return true
  } catch {
    toast({
      title: "The browser does not let this page copy",
      text: "Select the text instead",
      tone: "error",
    })
    return false
  }
}
