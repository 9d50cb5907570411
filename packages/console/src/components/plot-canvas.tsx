import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useStore } from '../lib/store.ts'
import { theme } from '../lib/theme.ts'
import type { PlotProps } from './plot-face.ts'
import { plotHeight } from './plot-face.ts'

/** A canvas takes no colour of a stylesheet by itself: a hidden element says what each is in this theme. */
function colourOf(place: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const barWidth = 0.72

/** Half a bar more at both ends, so that no bar is cut. */
function padded(first: number, last: number, count: number): [number, number] {
  const half = (last - first) / Math.max(1, count - 1) / 2
  return [first - half, last + half]
}

export function PlotCanvas({ times, values, kind, unit, limit }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const shown = useStore(theme)
  useEffect(() => {
    const { current } = place
    if (!current) return undefined
    const [text, grid, bar, failed] = ['--n8', '--n4', '--series-1', '--failed'].map((name) =>
      colourOf(current, name),
    )
    const font = `12px ${getComputedStyle(current).fontFamily}`
    const axis = { stroke: text ?? '', font, ticks: { show: false } }
    const isBars = kind === 'bars'
    const bars = isBars && UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [barWidth] }) } : {}
    const plot = new UPlot(
      {
        width: current.clientWidth,
        height: plotHeight,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          ...(isBars && {
            x: {
              range: (_: UPlot, first: number, last: number) => padded(first, last, times.length),
            },
          }),
          y: { range: (_, __, most) => [0, Math.max(most, limit ?? 0) * 1.1 || 1] },
        },
        axes: [
          { ...axis, grid: { show: false } },
          {
            ...axis,
            size: 56,
            grid: { stroke: grid ?? '', width: 1 },
            values: (_, ticks) => ticks.map((tick) => unit?.(tick) ?? String(tick)),
          },
        ],
        series: [
          {},
          {
            stroke: bar ?? '',
            width: isBars ? 0 : 1.6,
            ...(isBars && { fill: bar ?? '' }),
            points: { show: false },
            ...bars,
          },
          ...(limit === undefined
            ? []
            : [{ stroke: failed ?? '', width: 1, dash: [4, 4], points: { show: false } }]),
        ],
      },
      [[...times], [...values], ...(limit === undefined ? [] : [times.map(() => limit)])],
      current,
    )
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: current.clientWidth, height: plotHeight }),
    )
    observer.observe(current)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, values, kind, unit, limit, shown])
  return <div ref={place} className="min-w-0 overflow-hidden" />
}
