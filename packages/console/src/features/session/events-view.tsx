import { useMemo } from 'react'
import { EventRows } from '../../components/event-row.tsx'
import { ListFoot } from '../../components/list-foot.tsx'
import { Button } from '../../components/button.tsx'
import { useMoveKeys } from '../../lib/row-keys.ts'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import { timeOf } from './moments.ts'
import { lineOf } from './texts.ts'

type EventsViewProps = {
  log: FollowedLog
  chosen: string | undefined
  onChoose: (id: string) => void
}

export function EventsView({ log, chosen, onChoose }: EventsViewProps) {
  const { events, hasEarlier, hasLater, loadEarlier, loadLater, showNewest } = log
  const rows = useMemo(
    () =>
      events.map((event) => ({
        id: event.id,
        at: timeOf(event),
        seq: event.seq ?? undefined,
        type: event.type,
        text: lineOf(event),
        isFailure: event.type === 'session.error',
        isChosen: event.id === chosen,
        onChoose: () => onChoose(event.id),
      })),
    [events, chosen, onChoose],
  )
  const ids = useMemo(() => events.map(({ id }) => id), [events])
  useMoveKeys(ids, chosen, onChoose)
  return (
    <>
      {hasEarlier && (
        <ListFoot>
          <Button size="small" onClick={loadEarlier}>
            {words.session.earlier}
          </Button>
        </ListFoot>
      )}
      <EventRows rows={rows} label={words.session.events} />
      {hasLater && (
        <ListFoot>
          <Button size="small" onClick={loadLater}>
            {talkWords.later}
          </Button>
          <Button size="small" onClick={showNewest}>
            {words.session.toEnd(log.newer)}
          </Button>
        </ListFoot>
      )}
    </>
  )
}
