import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Row, Stack } from '../../components/layout.tsx'
import { Facts, Inspector } from '../../components/session-layout.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import type { SessionEvent } from '../../lib/api/types.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { words } from '../../lib/words.ts'
import { timeOf } from './moments.ts'

/** All of one event: as a tree, or as it came. */
export function InspectedEvent({ event, onClose }: { event: SessionEvent; onClose: () => void }) {
  const [isRaw, setRaw] = useState(false)
  const { data: _, ...shown } = event
  return (
    <Inspector title={words.session.event} onClose={onClose}>
      <Stack>
        <Facts
          facts={[
            [words.session.facts.type, event.type],
            [words.session.facts.id, <Id key="id" of={event.id} />],
            [words.session.facts.at, <Time key="at" at={timeOf(event)} form="clock" />],
            [words.session.facts.seq, event.seq === null ? '–' : formatCount(event.seq)],
          ]}
        />
        <Row isSpread>
          <span />
          <Button size="small" kind="plain" onClick={() => setRaw(!isRaw)}>
            {isRaw ? words.session.pretty : words.session.raw}
          </Button>
        </Row>
        {isRaw ? (
          <CodeBlock language="JSON" text={JSON.stringify(shown, null, 2)} />
        ) : (
          <JsonTree value={shown} />
        )}
      </Stack>
    </Inspector>
  )
}
