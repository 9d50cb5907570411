/** A page that could not be shown: what happened, what to do, and the request id. */
import { useRouter } from '@tanstack/react-router'
import { messageOf, requestIdOf } from '../lib/failures.ts'
import { isMissingPart, reloadOnce } from '../lib/updates.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Id } from './figures.tsx'

export function RouteFailure({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  const isOld = isMissingPart(error)
  // The part of a newer console: one reload brings it.
  if (isOld && reloadOnce()) return null
  const requestId = requestIdOf(error)
  const again = () => {
    if (isOld) location.reload()
    reset()
    void router.invalidate()
  }
  return (
    <main
      role="alert"
      className="mx-auto grid max-w-[560px] justify-items-center gap-3 px-4 py-24 text-center"
    >
      <h1 className="text-head font-semibold text-n11">{words.failures.title}</h1>
      <p>{isOld ? words.failures.updated : messageOf(error)}</p>
      {requestId !== undefined && (
        <p className="text-small text-n9">
          {words.requestId} <Id of={requestId} />
        </p>
      )}
      <Button kind="primary" onClick={again}>
        {isOld ? words.failures.reload : words.retry}
      </Button>
    </main>
  )
}
