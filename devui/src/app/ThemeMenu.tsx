/** Light, dark, or as the system has it. */
import { Monitor, Moon, Sun } from "lucide-react"
import { applyTheme, type Theme, useTheme } from "@/components/theme"
import { IconButton } from "@/components/ui/Button"
import { Menu } from "@/components/ui/Menu"

const CHOICES = [
  { theme: "system", label: "As the system", Icon: Monitor },
  { theme: "light", label: "Light", Icon: Sun },
  { theme: "dark", label: "Dark", Icon: Moon },
] as const satisfies readonly { theme: Theme; label: string; Icon: typeof Sun }[]

export function ThemeMenu() {
  const chosen = useTheme()
  const { Icon } = CHOICES.find((one) => one.theme === chosen) ?? CHOICES[0]
  return (
    <Menu
      label="Theme"
      trigger={<IconButton label="Theme" icon={<Icon aria-hidden />} />}
      items={CHOICES.map((one) => ({
        label: one.label,
        icon: <one.Icon aria-hidden />,
        onSelect: () => applyTheme(one.theme),
        hint: one.theme === chosen ? "✓" : undefined,
      }))}
    />
  )
}
