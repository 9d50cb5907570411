/** What stands where content is missing or old: loading, empty, failed, banners. */
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import type { StatusTone } from '../lib/tones.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Id } from './figures.tsx'
import { StatusSign } from './status.tsx'

const quietMs = 150

/** Bones after 150 ms, so that what comes at once does not flicker. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), quietMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div aria-busy="true" className="grid gap-6 p-4">
      <span className="sr-only">{words.loading}</span>
      {isLate &&
        Array.from({ length: rows }, (_, at) => (
          <span key={at} className="flex gap-6">
            <span className="h-2 w-20 rounded-sm bg-n4" />
            <span className="h-2 max-w-[40%] flex-1 rounded-sm bg-n4" />
          </span>
        ))}
    </div>
  )
}

/** One sentence, one action, and the request that would fill it. */
export const Empty = ({
  children,
  action,
  request,
}: {
  children: ReactNode
  action?: ReactNode
  request?: string
}) => (
  <div className="mx-auto grid max-w-[560px] justify-items-center gap-3 px-4 py-12 text-center">
    <p className="text-n11">{children}</p>
    {action}
    {request !== undefined && (
      <pre
        tabIndex={0}
        aria-label={words.request.title}
        className="w-full overflow-auto rounded-base border border-n4 bg-n2 px-3 py-2 text-left font-mono text-small"
      >
        {request}
      </pre>
    )}
  </div>
)

/** What happened, what to do, and the request id to copy. */
export const Failure = ({
  message,
  requestId,
  onRetry,
}: {
  message: string
  requestId?: string | undefined
  onRetry?: () => void
}) => (
  <div
    role="alert"
    className="mx-auto grid max-w-[560px] justify-items-center gap-3 px-4 py-12 text-center"
  >
    <p className="text-n11">{message}</p>
    {requestId !== undefined && (
      <p className="text-small text-n9">
        {words.requestId} <Id of={requestId} />
      </p>
    )}
    {onRetry && <Button onClick={onRetry}>{words.retry}</Button>}
  </div>
)

const backs = { quiet: 'bg-n2', asks: 'bg-waiting-quiet', failed: 'bg-failed-quiet' }

export const Banner = ({
  kind = 'quiet',
  sign,
  title,
  children,
  actions,
}: {
  kind?: keyof typeof backs
  sign?: StatusTone
  title: string
  children?: ReactNode
  actions?: ReactNode
}) => (
  <div
    className={`flex min-h-9 shrink-0 flex-wrap items-center gap-x-2.5 gap-y-1 border-b px-4 py-1 ${backs[kind]}`}
  >
    {sign && <StatusSign tone={sign} />}
    <b className="font-medium text-n11">{title}</b>
    {children !== undefined && <span className="min-w-0">{children}</span>}
    <span className="ml-auto flex gap-2">{actions}</span>
  </div>
)
