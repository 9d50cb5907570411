/** Where things of a turn stand on its scale: work has length, a marker of idle time a width that is always the same. */

/** `share`: of the work that was done until then; `markers`: how many stand before it. */
export type TimelinePosition = { share: number; markers: number }

/** A part of the work that is shown alone, in shares. */
export type TimelineZoom = { from: number; to: number }

export type TimelineScale = {
  zoom: TimelineZoom
  /** Markers before the shown part, and in it. */
  before: number
  markers: number
  markerPx: number
  /** Kept free at the end, for what still waits. */
  endPx: number
}

export const wholeTurn: TimelineZoom = { from: 0, to: 1 }

const widest = 38
/** All markers of a turn together are no wider. */
const most = 76

/** `idle`: the shares at which markers stand, in their order. */
export function scaleOf(idle: readonly number[], zoom: TimelineZoom, endPx: number): TimelineScale {
  const before = idle.filter((share) => share < zoom.from).length
  const markers = idle.filter((share) => share >= zoom.from && share <= zoom.to).length
  const markerPx = markers === 0 ? widest : Math.max(4, Math.min(widest, most / markers))
  return { zoom, before, markers, markerPx, endPx }
}

const within = (value: number): number => Math.max(0, Math.min(1, value))

/** How far a place lies in the shown part, and the markers of the part before it. */
function placeIn(
  { zoom, before, markers }: TimelineScale,
  { share, markers: own }: TimelinePosition,
) {
  return {
    share: within((share - zoom.from) / Math.max(1e-6, zoom.to - zoom.from)),
    markers: Math.max(0, Math.min(markers, own - before)),
  }
}

/** The place as a length of CSS from the beginning of the scale. */
export function lengthOf(scale: TimelineScale, place: TimelinePosition): string {
  const { share, markers } = placeIn(scale, place)
  const { markerPx, endPx } = scale
  const fixed = markerPx * scale.markers + endPx
  const own = markerPx * markers
  return `calc((100% - ${fixed}px) * ${share.toFixed(5)} + ${own}px)`
}

/** Where a bar begins: what ended last of all is seen too. */
export const beginOf = (scale: TimelineScale, place: TimelinePosition): string =>
  `min(${lengthOf(scale, place)}, 100% - 2px)`

/** How long a part is, as a length of CSS. */
export function widthOf(
  scale: TimelineScale,
  from: TimelinePosition,
  to: TimelinePosition,
): string {
  return `calc(${lengthOf(scale, to)} - ${lengthOf(scale, from)})`
}

/** Whether any of a part is shown. */
export const isShown = (
  { zoom }: TimelineScale,
  from: TimelinePosition,
  to: TimelinePosition,
): boolean => to.share >= zoom.from && from.share <= zoom.to

/** The share of the work at a distance from the beginning of a scale that is so wide. */
export function shareAt(
  scale: TimelineScale,
  idle: readonly number[],
  distance: number,
  width: number,
): number {
  const { zoom, before, markers, markerPx, endPx } = scale
  const room = Math.max(1, width - markers * markerPx - endPx)
  const span = zoom.to - zoom.from
  let passed = 0
  for (const share of idle.slice(before, before + markers)) {
    const at = ((share - zoom.from) / span) * room + passed
    if (distance < at) break
    if (distance <= at + markerPx) return share
    passed += markerPx
  }
  return zoom.from + within((distance - passed) / room) * span
}
