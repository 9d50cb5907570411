/** All of one event: as a tree, or as it came. It may lie outside of what the page has. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { IconDown, IconUp } from '../../components/icons.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Quiet, Row, Stack } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { Facts } from '../../components/session-layout.tsx'
import type { SessionEvent } from '../../lib/api/types.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { formatDuration } from '../../lib/format/times.ts'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import { timeOf } from './moments.ts'
import { wholeEventQuery } from './session.ts'

type InspectedEventProps = {
  session: string
  id: string | undefined
  /** The event as the page has it, which may be cut. */
  known: SessionEvent | undefined
  onFork: (seq: number) => void
  /** The events beside it, and how to go there. */
  before?: string | undefined
  behind?: string | undefined
  onChoose: (event: string) => void
}

export function InspectedEvent(props: InspectedEventProps) {
  const { session, id, known, onFork } = props
  const isFetched = id !== undefined && (known === undefined || known.cut !== undefined)
  const query = useQuery({ ...wholeEventQuery(session, id ?? ''), enabled: isFetched })
  if (id === undefined) return <Quiet>{words.session.noEvent}</Quiet>
  const event = query.data ?? known
  if (event)
    return (
      <EventShown
        event={event}
        step={known?.step}
        onFork={onFork}
        ways={<EventWays {...props} />}
      />
    )
  return query.error ? (
    <Failure
      message={query.error.message}
      requestId={requestIdOf(query.error)}
      onRetry={() => void query.refetch()}
    />
  ) : (
    <Skeleton rows={3} />
  )
}

/** To the event before and to the one behind. */
const EventWays = ({ before, behind, onChoose }: InspectedEventProps) => (
  <>
    <WayButton label={talkWords.previousEvent} icon={<IconUp />} to={before} go={onChoose} />
    <WayButton label={talkWords.nextEvent} icon={<IconDown />} to={behind} go={onChoose} />
  </>
)

const WayButton = ({
  label,
  icon,
  to,
  go,
}: {
  label: string
  icon: ReactNode
  to: string | undefined
  go: (event: string) => void
}) => (
  <Button
    size="small"
    kind="plain"
    label={label}
    icon={icon}
    offBecause={to === undefined ? talkWords.noMoreEvents : undefined}
    onClick={() => to !== undefined && go(to)}
  />
)

const hiddenParts = new Set(['data', 'step', 'cut', 'workspace_id', 'session_id'])

function EventShown({
  event,
  step,
  onFork,
  ways,
}: {
  event: SessionEvent
  step: SessionEvent['step']
  onFork: (seq: number) => void
  ways: ReactNode
}) {
  const [isRaw, setRaw] = useState(false)
  const { seq } = event
  const shown = Object.fromEntries(Object.entries(event).filter(([name]) => !hiddenParts.has(name)))
  const { facts } = words.session
  return (
    <Stack>
      <Facts
        facts={[
          [facts.type, event.type],
          [facts.id, <Id key="id" of={event.id} />],
          [facts.at, <Time key="at" at={timeOf(event)} form="clock" />],
          [facts.seq, seq === null ? '–' : formatCount(seq)],
          ...(step ? ([[facts.took, formatDuration(step.duration_ms)]] as const) : []),
          ...(step?.model === undefined ? [] : ([[facts.model, step.model]] as const)),
        ]}
      />
      <Row isSpread>
        {seq === null ? (
          <span />
        ) : (
          <Button size="small" onClick={() => onFork(seq)}>
            {words.session.forkHere}
          </Button>
        )}
        <Row gap="small">
          <Button size="small" kind="plain" onClick={() => setRaw(!isRaw)}>
            {isRaw ? words.session.pretty : words.session.raw}
          </Button>
          {ways}
        </Row>
      </Row>
      {isRaw ? (
        <CodeBlock language="JSON" text={JSON.stringify(shown, null, 2)} />
      ) : (
        <JsonTree value={shown} />
      )}
    </Stack>
  )
}
