/** Statuses, numbers, tables and tabs. */
import { useState } from 'react'
import { Cost, Duration, Id, Time, Tokens } from '../../components/figures.tsx'
import { Row } from '../../components/layout.tsx'
import { LiveState } from '../../components/live-sign.tsx'
import { Banner, Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { Button } from '../../components/button.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import { Status } from '../../components/status.tsx'
import { Table } from '../../components/table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Tabs } from '../../components/tabs.tsx'

const fixed = Date.parse('2026-11-25T12:04:11.204Z')

export const Values = () => (
  <Spec name="Status, numbers, ids">
    <Specimen
      caption="a sign and a word; only running moves, amber is for people alone"
      size="whole"
    >
      <Row gap="wide" isWrapped>
        <Status tone="running">running</Status>
        <Status tone="asks">asks you</Status>
        <Status tone="queued">waits for a worker</Status>
        <Status tone="idle">idle</Status>
        <Status tone="done">done</Status>
        <Status tone="failed">failed</Status>
      </Row>
    </Specimen>
    <Specimen caption="id: shortened in the middle, whole on copy" size="third">
      <Row>
        <Id of="sesn_01a21be0d41f7000be61d9f89350dca2" />
      </Row>
    </Specimen>
    <Specimen
      caption="time: how long ago and the time of day, both with UTC in the title"
      size="third"
    >
      <Row gap="wide">
        <Time at={new Date(fixed).toISOString()} />
        <Time at={new Date(fixed).toISOString()} form="clock" />
      </Row>
    </Specimen>
    <Specimen caption="durations" size="third">
      <Row gap="wide">
        <Duration ms={51} />
        <Duration ms={1_240} />
        <Duration ms={252_000} />
        <Duration ms={7_500_000} />
      </Row>
    </Specimen>
    <Specimen caption="cost; a dash where the price is not known" size="third">
      <Row gap="wide">
        <Cost dollars={0.0004} />
        <Cost dollars={0.214} />
        <Cost dollars={18.42} />
        <Cost dollars={undefined} />
      </Row>
    </Specimen>
    <Specimen caption="tokens" size="third">
      <Row gap="wide">
        <Tokens count={412} />
        <Tokens count={81_240} />
        <Tokens count={1_320_000} />
      </Row>
    </Specimen>
    <Specimen caption="the state of the one stream" size="third">
      <Row gap="wide">
        <LiveState of={{ state: 'live', heardAt: fixed }} />
        <LiveState of={{ state: 'reconnecting', heardAt: fixed }} />
        <LiveState of={{ state: 'offline', heardAt: fixed }} />
      </Row>
    </Specimen>
  </Spec>
)

type ExampleRow = {
  title: string
  agent: string
  cost: number
  tone: 'running' | 'failed' | 'asks'
}
const rows: readonly ExampleRow[] = [
  { title: 'fix the flaky test', agent: 'reviewer@12', cost: 0.214, tone: 'asks' },
  { title: 'port the importer to streams', agent: 'coder@31', cost: 0.131, tone: 'running' },
  { title: 'sync the product catalogue', agent: 'shopkeeper@2', cost: 0.031, tone: 'failed' },
]
const words = { running: 'running', failed: 'failed', asks: 'asks you' }
const columns: readonly TableColumn<ExampleRow>[] = [
  { name: 'Status', width: 120, show: ({ tone }) => <Status tone={tone}>{words[tone]}</Status> },
  { name: 'Title', isStrong: true, show: ({ title }) => title },
  { name: 'Agent', width: 140, from: 'drawer', show: ({ agent }) => agent },
  { name: 'Cost', width: 90, isNumber: true, show: ({ cost }) => <Cost dollars={cost} /> },
]

export const Tables = () => (
  <Spec name="Table">
    <Specimen caption="rows of 32 px; one is chosen by the keys" size="whole">
      <Framed>
        <Table
          label="An example"
          columns={columns}
          rows={rows}
          keyOf={({ title }) => title}
          chosen="port the importer to streams"
          onOpen={() => {}}
        />
      </Framed>
    </Specimen>
    <Specimen caption="loading, after 150 ms" size="third">
      <Framed>
        <Skeleton rows={4} />
      </Framed>
    </Specimen>
    <Specimen caption="empty: one sentence, one action" size="third">
      <Framed>
        <Empty action={<Button>Schedule an agent</Button>}>No agent runs by itself yet.</Empty>
      </Framed>
    </Specimen>
    <Specimen caption="failed: what happened, the request, another try" size="third">
      <Framed>
        <Failure
          message="The server does not answer."
          requestId="req_01a21be0a2a17000ac17871a638cbdbc"
          onRetry={() => {}}
        />
      </Framed>
    </Specimen>
    <Specimen caption="banners: asks people, reconnecting, offline" size="whole">
      <Framed>
        <Banner kind="asks" sign="asks" title="Asks for your approval of bash" />
        <Banner sign="queued" title="Reconnecting">
          Last event 14 s ago. Numbers may be behind.
        </Banner>
        <Banner
          kind="failed"
          sign="failed"
          title="Offline since 12:21"
          actions={<Button size="small">Try now</Button>}
        >
          You see what was true then. What you type is kept.
        </Banner>
      </Framed>
    </Specimen>
  </Spec>
)

export function TabSets() {
  const [chosen, setChosen] = useState<'event' | 'tools' | 'files'>('event')
  return (
    <Spec name="Tabs">
      <Specimen caption="arrow keys go through them; counts are quiet" size="half">
        <Framed>
          <Tabs
            label="An example of tabs"
            chosen={chosen}
            onChoose={setChosen}
            tabs={[
              { name: 'event', label: 'Event' },
              { name: 'tools', label: 'Tools', beside: 4 },
              { name: 'files', label: 'Files' },
            ]}
          />
        </Framed>
      </Specimen>
    </Spec>
  )
}
