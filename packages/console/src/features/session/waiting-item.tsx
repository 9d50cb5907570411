/** A message that no turn has read yet: it can be changed and removed until then. */
import { WaitingMessage } from '../../components/waiting-message.tsx'
import type { SessionEvent } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { useWaitingChange } from './session.ts'
import { textOfContent } from './texts.ts'

export function WaitingItem({ event, session }: { event: SessionEvent; session: string }) {
  const change = useWaitingChange(session)
  const readOnly = useReadOnlyReason()
  const text =
    'content' in event && Array.isArray(event.content) ? textOfContent(event.content) : ''
  const apply = (next: string | undefined) =>
    change.mutate(
      { message: event.id, text: next },
      {
        onSuccess: (state) => {
          if (state === 'already_read') say({ kind: 'done', text: words.session.alreadyRead })
        },
        onError: ({ message }) => say({ kind: 'failed', text: message }),
      },
    )
  return (
    <WaitingMessage
      id={event.id}
      at={event.created_at}
      text={text}
      isBusy={change.isPending}
      offBecause={readOnly}
      onChange={apply}
      onRemove={() => apply(undefined)}
    />
  )
}
