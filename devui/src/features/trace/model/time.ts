/**
 * Time on a lane: positions 0…1 for times, with long idle stretches drawn short when that is wished, and ticks.
 *
 *     const scale = scaleOf(tree.start, end, compress ? idle.gaps : [])
 *     const left = (position(scale, node.start) - window.from) / (window.to - window.from)
 */
import type { Tree } from "./tree"

interface Gap {
  from: number
  to: number
}

interface Segment {
  from: number
  to: number
  a: number
  b: number
  gap: boolean
}

export interface Scale {
  start: number
  end: number
  segments: readonly Segment[]
}

/** A part of the scale, as positions. */
export interface Window {
  from: number
  to: number
}

export const WHOLE: Window = { from: 0, to: 1 }

/** How much room a compressed stretch takes. */
const GAP_WIDTH = 0.03
/** Shorter ones stay as they are. */
const GAP_LEAST = 0.04

/** What only waits for what is below it. */
const WAITS = new Set(["flow", "step", "util", "external"])

/** Stretches in which nothing runs but flows and steps that wait, and which share of the trace they are. */
export function idleOf(tree: Tree, now: number): { gaps: readonly Gap[]; share: number } {
  const end = tree.running ? Math.max(now, tree.end) : tree.end
  const total = end - tree.start
  if (total <= 0) return { gaps: [], share: 0 }
  const busy = tree.nodes
    .filter((node) => node.children.length === 0 || !WAITS.has(node.span.label))
    .map((node) => ({ from: node.start, to: node.span.end ?? end }))
    .sort((a, b) => a.from - b.from)
  const gaps: Gap[] = []
  let idle = 0
  let at = tree.start
  for (const { from, to } of [...busy, { from: end, to: end }]) {
    if (from > at) {
      idle += from - at
      if (from - at > total * GAP_LEAST) gaps.push({ from: at, to: from })
    }
    at = Math.max(at, to)
  }
  return { gaps, share: idle / total }
}

export function scaleOf(start: number, end: number, gaps: readonly Gap[] = []): Scale {
  const total = Math.max(end - start, 0.001)
  const idle = gaps.reduce((sum, gap) => sum + (gap.to - gap.from), 0)
  if (gaps.length === 0 || idle >= total) {
    return {
      start,
      end: start + total,
      segments: [{ from: start, to: start + total, a: 0, b: 1, gap: false }],
    }
  }
  const room = (1 - GAP_WIDTH * gaps.length) / (total - idle)
  const segments: Segment[] = []
  let at = start
  let a = 0
  const add = (to: number, width: number, gap: boolean) => {
    if (to <= at) return
    segments.push({ from: at, to, a, b: a + width, gap })
    at = to
    a += width
  }
  for (const gap of gaps) {
    add(gap.from, (gap.from - at) * room, false)
    add(gap.to, GAP_WIDTH, true)
  }
  add(start + total, (start + total - at) * room, false)
  return { start, end: start + total, segments }
}

function segmentAt(scale: Scale, holds: (segment: Segment) => boolean): Segment {
  return scale.segments.find(holds) ?? (scale.segments.at(-1) as Segment)
}

export function position(scale: Scale, time: number): number {
  const { from, to, a, b } = segmentAt(scale, (segment) => time <= segment.to)
  return Math.min(1, Math.max(0, a + ((time - from) / (to - from)) * (b - a)))
}

export function timeAt(scale: Scale, place: number): number {
  const { from, to, a, b } = segmentAt(scale, (segment) => place <= segment.b)
  return from + ((place - a) / (b - a)) * (to - from)
}

interface Bar {
  /** Shares of the lane, cut at its edges. */
  left: number
  width: number
  /** Nothing of it is in the window. */
  outside: boolean
}

export function barOf(scale: Scale, window: Window, start: number, end: number): Bar {
  const size = window.to - window.from
  const left = (position(scale, start) - window.from) / size
  const right = (position(scale, Math.max(start, end)) - window.from) / size
  const cut = Math.min(1, Math.max(0, left))
  return { left: cut, width: Math.max(0, Math.min(1, right) - cut), outside: right < 0 || left > 1 }
}

export interface Tick {
  /** Share of the lane. */
  at: number
  label: string
  /** A stretch of idle time begins here. */
  gap: boolean
}

const STEPS = [1, 2, 5]

/** At most about `count` ticks in the window, at round times; at the edges of compressed stretches in any case. */
export function ticks(scale: Scale, window: Window, count: number): readonly Tick[] {
  const size = window.to - window.from
  const place = (time: number) => (position(scale, time) - window.from) / size
  const found: Tick[] = []
  const visible = scale.segments.filter((segment) => segment.b > window.from && segment.a < window.to)
  const first = timeAt(scale, window.from)
  const last = timeAt(scale, window.to)
  const cut = ({ from, to }: Segment) => ({ from: Math.max(from, first), to: Math.min(to, last) })
  const shown = visible.reduce((sum, segment) => {
    const { from, to } = cut(segment)
    return segment.gap ? sum : sum + (to - from)
  }, 0)
  for (const segment of visible) {
    if (segment.gap) {
      found.push({
        at: place(segment.from),
        label: `${timeLabel(segment.to - segment.from, (segment.to - segment.from) / 20)} idle`,
        gap: true,
      })
      continue
    }
    const { from, to } = cut(segment)
    const wanted = Math.max(1, Math.round((count * (to - from)) / Math.max(shown, 0.000001)))
    const step = niceStep((to - from) / wanted)
    const until = Math.floor((to - scale.start) / step + 1e-9)
    for (let at = Math.ceil((from - scale.start) / step - 1e-9); at <= until && found.length < 200; at++) {
      found.push({ at: place(scale.start + at * step), label: timeLabel(at * step, step), gap: false })
    }
  }
  return spread(found, 0.6 / Math.max(count, 1))
}

/** Leaves out what would be written over its neighbour. */
function spread(found: readonly Tick[], least: number): readonly Tick[] {
  const kept: Tick[] = []
  for (const tick of found) {
    const last = kept.at(-1)
    if (last !== undefined && tick.at - last.at < least) {
      if (!tick.gap || last.gap) continue
      kept.pop()
    }
    kept.push(tick)
  }
  return kept
}

function niceStep(rough: number): number {
  if (!(rough > 0)) return 1
  if (rough > 60_000) return Math.ceil(rough / 60_000) * 60_000
  const power = 10 ** Math.floor(Math.log10(rough))
  return (STEPS.find((step) => step * power >= rough * 0.999) ?? 10) * power
}

/** A time since the start, in the unit that suits the distance of two ticks. */
export function timeLabel(ms: number, step: number): string {
  if (ms === 0) return "0"
  if (step < 0.5 && ms < 1) return `${trim(ms * 1000, 0)} µs`
  if (ms < 1000 && step < 500) return `${trim(ms, step < 1 ? 2 : 0)} ms`
  if (ms < 120_000)
    return `${trim(ms / 1000, step < 1 ? 4 : step < 10 ? 3 : step < 100 ? 2 : step < 1000 ? 1 : 0)} s`
  return `${trim(ms / 60_000, step < 60_000 ? 1 : 0)} min`
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}
