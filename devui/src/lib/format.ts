/**
 * Numbers and times as people read them.
 *
 *     duration(1234)   // "1.23 s"
 *     bytes(2048)      // "2.0 kB"
 */

/** Milliseconds: `0.4 ms`, `12 ms`, `1.23 s`, `2 m 05 s`, `1 h 02 m`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "—"
  if (ms < 0) return `-${duration(-ms)}`
  if (ms < 0.95) return ms === 0 ? "0 ms" : `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${ms < 9.95 ? trimmed(ms, 1) : Math.round(ms)} ms`
  if (ms < 59_995) return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`
}

/** Bytes by thousands: `812 B`, `2.0 kB`, `14 MB`. */
export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined || !Number.isFinite(n)) return "—"
  let value = n
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (value < 999.5 || unit === "TB") {
      return unit === "B"
        ? `${Math.round(value)} B`
        : `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`
    }
    value /= 1000
  }
  return "—"
}

const grouped = new Intl.NumberFormat("en-GB")

/** `1,234,567`. */
export function count(n: number | null | undefined): string {
  return n === null || n === undefined || !Number.isFinite(n) ? "—" : grouped.format(n)
}

/** `1 trace`, `2 traces`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** How long ago: `just now`, `12 s ago`, `5 min ago`, `3 h ago`, then the date. */
export function when(ms: number | null | undefined, now = Date.now()): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "—"
  const seconds = (now - ms) / 1000
  if (seconds < 5) return "just now"
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return day(ms)
}

/** The local time of a day, with milliseconds: `14:03:07.250`. */
export function clock(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "—"
  const date = new Date(ms)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`
}

/** `2026-11-30`, local. */
function day(ms: number): string {
  const date = new Date(ms)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** Day and time, for tooltips: `2026-11-30 14:03:07.250`. */
export function moment(ms: number | null | undefined): string {
  return ms === null || ms === undefined || !Number.isFinite(ms) ? "—" : `${day(ms)} ${clock(ms)}`
}

function two(n: number): string {
  return String(n).padStart(2, "0")
}

function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, "")
}
