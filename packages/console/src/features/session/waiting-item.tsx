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
  const content = 'content' in event && Array.isArray(event.content) ? event.content : []
  const [first, ...others] = content
  const isText = first?.type === 'text'
  const text = isText ? first.text : textOfContent(content)
  const apply = (next: string | undefined, onDone = () => {}) =>
    change.mutate(
      {
        message: event.id,
        // Only the person's own words are changed: files that came with them stay.
        content:
          next === undefined
            ? undefined
            : [{ type: 'text', text: next }, ...(isText ? others : content)],
      },
      {
        onSuccess: (state) => {
          if (state === 'already_read') say({ kind: 'done', text: words.session.alreadyRead })
          else onDone()
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
