/** A line or bars over time. The library that draws is loaded with the first plot. */
import { lazy, Suspense } from 'react'
import type { PlotProps } from './plot-face.ts'
import { plotHeight } from './plot-face.ts'

const PlotCanvas = lazy(async () => ({ default: (await import('./plot-canvas.tsx')).PlotCanvas }))

export const Plot = (props: PlotProps) => (
  <figure role="img" aria-label={props.label} className="min-w-0" style={{ height: plotHeight }}>
    <Suspense>
      <PlotCanvas {...props} />
    </Suspense>
  </figure>
)

/** How much of something is used: near its end it is amber, at its end red. */
export const Meter = ({ label, share }: { label: string; share: number }) => (
  <span className="flex items-center gap-2">
    <span
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-n4"
    >
      <span
        className={`block h-full rounded-full ${share >= 1 ? 'bg-failed' : share >= 0.8 ? 'bg-bar-wait' : 'bg-n9'}`}
        style={{ width: `${Math.min(1, share) * 100}%` }}
      />
    </span>
    <span className={`text-small ${share >= 1 ? 'text-failed' : 'text-n9'}`}>
      {Math.round(share * 100)} %
    </span>
  </span>
)
