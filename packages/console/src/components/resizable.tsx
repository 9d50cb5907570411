/** The width of a pane, which people set by dragging its edge or by the arrow keys; this browser remembers it. */
import type { KeyboardEvent, PointerEvent } from 'react'
import { useState } from 'react'
import { keepWidth, readWidth } from '../lib/pane-widths.ts'

export type PaneWidth = {
  px: number
  least: number
  most: number
  set: (px: number) => void
  reset: () => void
}

type PaneLimits = { usual: number; least: number; most: number }

export function usePaneWidth(name: string, { usual, least, most }: PaneLimits): PaneWidth {
  const [px, setPx] = useState(() => readWidth(name) ?? usual)
  const set = (next: number) => {
    const kept = Math.round(Math.max(least, Math.min(most, next)))
    setPx(kept)
    keepWidth(name, kept)
  }
  return {
    px: Math.max(least, Math.min(most, px)),
    least,
    most,
    set,
    reset() {
      setPx(usual)
      keepWidth(name, undefined)
    },
  }
}

const stepPx = 16

/** The edge of a pane. `side`: the pane that it makes wider lies on its left or its right. */
export function PaneEdge({
  label,
  pane,
  side,
}: {
  label: string
  pane: PaneWidth
  side: 'left' | 'right'
}) {
  const way = side === 'left' ? 1 : -1
  const [begun, setBegun] = useState<{ x: number; px: number }>()
  const press = (event: KeyboardEvent) => {
    const next = {
      ArrowLeft: pane.px - stepPx * way,
      ArrowRight: pane.px + stepPx * way,
      Home: pane.least,
      End: pane.most,
    }[event.key]
    if (next === undefined || event.metaKey || event.ctrlKey || event.altKey) return
    event.preventDefault()
    pane.set(next)
  }
  const move = (event: PointerEvent) => {
    if (begun) pane.set(begun.px + (event.clientX - begun.x) * way)
  }
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={pane.px}
      aria-valuemin={pane.least}
      aria-valuemax={pane.most}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setBegun({ x: event.clientX, px: pane.px })
      }}
      onPointerMove={move}
      onPointerUp={() => setBegun(undefined)}
      onPointerCancel={() => setBegun(undefined)}
      onDoubleClick={pane.reset}
      className={`absolute inset-y-0 z-[3] w-2 cursor-col-resize touch-none outline-offset-[-2px] hover:bg-accent-quiet max-phone:hidden ${side === 'left' ? '-right-1' : '-left-1'}`}
    />
  )
}
