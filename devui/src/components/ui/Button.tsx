/** A button, a button that is only an icon, and a link that looks like a button. */
import { createLink } from "@tanstack/react-router"
import { LoaderCircle } from "lucide-react"
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from "react"
import { classes } from "@/lib/classes"
import styles from "./Button.module.css"
import { Tooltip } from "./Tooltip"

interface Look {
  variant?: "primary" | "plain" | "ghost" | "danger" | undefined
  size?: "s" | "m" | undefined
  icon?: ReactNode
}

interface ButtonProps extends Look, ButtonHTMLAttributes<HTMLButtonElement> {
  /** Something that it began is still going on: it turns, and cannot be pressed. */
  busy?: boolean | undefined
  ref?: Ref<HTMLButtonElement> | undefined
}

export function Button({
  variant = "plain",
  size = "m",
  icon,
  busy = false,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
      className={look({ variant, size }, className)}
    >
      {busy ? <LoaderCircle className={styles.spin} aria-hidden /> : icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonProps, "children"> {
  /** What it does: its accessible name and its tooltip. */
  label: string
}

export function IconButton({
  label,
  variant = "ghost",
  size = "m",
  icon,
  busy,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        disabled={rest.disabled === true || busy === true}
        className={classes(look({ variant, size }, className), styles.icon)}
      >
        {busy === true ? <LoaderCircle className={styles.spin} aria-hidden /> : icon}
      </button>
    </Tooltip>
  )
}

interface AnchorProps extends Look, AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement> | undefined
}

function Anchor({ variant = "plain", size = "m", icon, children, className, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={look({ variant, size }, className)}>
      {icon}
      {children}
    </a>
  )
}

/** The router's Link with a button's look: `<LinkButton to="/traces">All traces</LinkButton>`. */
export const LinkButton = createLink(Anchor)

function look(
  { variant, size }: { variant: NonNullable<Look["variant"]>; size: NonNullable<Look["size"]> },
  className?: string,
) {
  return classes(styles.button, styles[variant], size === "s" && styles.s, className)
}
