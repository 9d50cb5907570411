/** A turn or a session that has failed: why, and the last message sent once more. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { Problem, Quiet } from '../../components/layout.tsx'
import { Banner } from '../../components/notices.tsx'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import type { FollowedLog } from './log.ts'
import type { UserMessage } from './retry.ts'
import { failureOf, whyNoRetry } from './retry.ts'
import { lastMessageQuery } from './session.ts'
import { retryWords as own } from './words.ts'

type RetryBannerProps = {
  session: Session
  short: ShortSession | undefined
  log: FollowedLog
  title: string
  onOpen: (session: string) => void
}

export function RetryBanner(props: RetryBannerProps) {
  const failure = failureOf(props.session, props.short, props.log.known)
  return failure && <Failed {...props} failure={failure} />
}

function Failed({
  session,
  title,
  onOpen,
  failure,
}: RetryBannerProps & { failure: NonNullable<ReturnType<typeof failureOf>> }) {
  const readOnly = useReadOnlyReason()
  const { data: message } = useQuery(lastMessageQuery(session.id))
  const retry = useRetry(session.id, own.forkTitle(title), onOpen)
  const { isOver, why } = failure
  return (
    <Banner
      kind="failed"
      sign="failed"
      title={isOver ? own.sessionFailed : own.turnFailed}
      actions={
        <Button
          size="small"
          isBusy={retry.isPending}
          offBecause={readOnly ?? whyNoRetry(message, isOver)}
          onClick={() => message && retry.mutate({ message, isOver })}
        >
          {isOver ? own.fork : own.send}
        </Button>
      }
    >
      <Problem text={retry.error?.message}>
        <Quiet isSmall>{why}</Quiet>
      </Problem>
    </Banner>
  )
}

/** A session that has ended takes no message: another one goes on from before the last. */
function useRetry(id: string, title: string, onOpen: (session: string) => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ message, isOver }: { message: UserMessage; isOver: boolean }) => {
      const to = isOver ? await forkBefore(id, message, title) : id
      const { content } = message
      await api.POST('/v1/sessions/{id}/events', {
        params: { path: { id: to } },
        body: { events: [{ type: 'user.message', content }] },
      })
      return to
    },
    onSuccess: (to) => {
      if (to !== id) onOpen(to)
    },
    // Until the page knows of the new turn, nobody sends the message a second time.
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
}

async function forkBefore(id: string, { seq }: UserMessage, title: string): Promise<string> {
  const fork = await dataOf(
    api.POST('/v1/ext/sessions/{id}/fork', {
      params: { path: { id } },
      body: { title, ...(seq !== null && { at_seq: seq - 1 }) },
    }),
  )
  return fork.id
}
