/** Code, JSON, diffs, Markdown, tools, cards that ask, timelines, events and plots. */
import { useState } from 'react'
import { ApprovalCard } from '../../components/approval-card.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Diff } from '../../components/diff.tsx'
import { EventRow } from '../../components/event-row.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { AgentText } from '../../components/markdown.tsx'
import { Message, Note, Thought } from '../../components/message.tsx'
import { Meter, Plot } from '../../components/plot.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import { Stack } from '../../components/layout.tsx'
import type { TimelineRow } from '../../components/timeline.tsx'
import { TimelineTurn } from '../../components/timeline.tsx'
import type { ToolCardProps } from '../../components/tool-card.tsx'
import { ToolCard, ToolCards } from '../../components/tool-card.tsx'
import { formatCost } from '../../lib/format/numbers.ts'
import {
  codeAfter,
  codeBefore,
  colouredOutput,
  costs,
  days,
  hiddenCommand,
  hostileText,
  jsonValue,
  longOutput,
  runningFrom,
  runningOutput,
  markdownText,
} from './examples.ts'

const nothing = () => {}
const at = '2026-11-25T12:04:11.204Z'

export const Codes = () => (
  <Spec name="Code, JSON, diff">
    <Specimen caption="code block: language, wrap, copy" size="half">
      <CodeBlock language="TypeScript" text={codeAfter} />
    </Specimen>
    <Specimen
      caption="JSON tree: folded parts say how much is in them; long texts are cut"
      size="half"
    >
      <JsonTree value={jsonValue} />
    </Specimen>
    <Specimen caption="diff: a sign before each line that changed" size="half">
      <Diff title="test/timer.test.ts" before={codeBefore} after={codeAfter} />
    </Specimen>
    <Specimen
      caption="Markdown of an agent: no HTML, images not loaded, links show where they lead"
      size="half"
    >
      <AgentText text={markdownText} />
    </Specimen>
    <Specimen caption="what would be markup is text" size="whole">
      <AgentText text={hostileText} />
    </Specimen>
  </Spec>
)

export const Talks = () => (
  <Spec name="Messages">
    <Specimen caption="a person, thinking folded, an agent, a note" size="half">
      <Stack>
        <Message
          id="m1"
          by="person"
          name="User"
          at={at}
          text="Please make the timer test stable."
        />
        <Thought title="Thinking" text="The test sleeps for 50 ms." />
        <Message
          id="m2"
          by="agent"
          name="reviewer"
          at={at}
          text="I replaced the sleep by `await once(timer)`."
        />
        <Note>The history was made shorter for the model</Note>
        <Note isFailure>The model did not answer; this is the third try.</Note>
      </Stack>
    </Specimen>
    <Specimen caption="event rows: one chosen, a failure" size="half">
      <Framed>
        <EventRow
          id="e1"
          at={at}
          seq={1_201}
          type="agent.message"
          text="The test sleeps for 50 ms."
        />
        <EventRow id="e2" at={at} seq={1_204} type="agent.tool_use" text="bash git push" isChosen />
        <EventRow id="e3" at={at} seq={1_205} type="session.error" text="no answer" isFailure />
        <EventRow id="e4" at={at} seq={undefined} type="user.message" text="waits to be read" />
      </Framed>
    </Specimen>
  </Spec>
)

export const Tools = () => (
  <Spec name="Tool card">
    <Specimen caption="running, done, failed, denied: one line until opened" size="half">
      <ToolCards>
        <OpeningCard
          id="t1"
          name="bash"
          summary="npm test"
          input="npm test"
          result={undefined}
          runningFrom={runningFrom}
          output={{ text: runningOutput, lastByteAt: runningFrom }}
        />
        <OpeningCard
          id="t2"
          name="read"
          summary="timer.ts"
          input="timer.ts"
          result={{ text: 'export const timer = 1', isError: false, tookMs: 92 }}
        />
        <OpeningCard
          id="t3"
          name="mcp__shop__list"
          summary="since 2026-11-25"
          input="since 2026-11-25"
          result={{ text: 'shop.example answered 401', isError: true, tookMs: 310 }}
          isOpenAtFirst
        />
      </ToolCards>
    </Specimen>
    <Specimen
      caption="long output: head and tail, the count between; colours of a terminal"
      size="half"
    >
      <Stack>
        <ToolCards>
          <OpeningCard
            id="t4"
            name="bash"
            summary="npm ci --loglevel verbose"
            input="npm ci --loglevel verbose"
            result={{ text: longOutput, isError: false, tookMs: 72_000 }}
            isOpenAtFirst
          />
        </ToolCards>
        <ToolCards>
          <OpeningCard
            id="t5"
            name="bash"
            summary="node --test"
            input="node --test"
            result={{ text: colouredOutput, isError: false, tookMs: 1_200 }}
            isOpenAtFirst
          />
        </ToolCards>
      </Stack>
    </Specimen>
  </Spec>
)

export const Asking = () => (
  <Spec name="Approval card">
    <Specimen caption="asks: the whole input; y and n while the card has the focus" size="half">
      <ApprovalCard
        id="a1"
        name="bash"
        input="git push origin fix/flaky-timer"
        sending={undefined}
        onDecide={nothing}
      />
    </Specimen>
    <Specimen caption="characters that do not show are named" size="half">
      <ApprovalCard
        id="a2"
        name="bash"
        input={hiddenCommand}
        sending={undefined}
        onDecide={nothing}
      />
    </Specimen>
    <Specimen caption="being sent: decided when the service says so" size="half">
      <ApprovalCard id="a3" name="bash" input="git push" sending="allow" onDecide={nothing} />
    </Specimen>
    <Specimen caption="a viewer may not answer" size="half">
      <ApprovalCard
        id="a4"
        name="bash"
        input="git push"
        sending={undefined}
        offBecause="A viewer reads and answers nothing"
        onDecide={nothing}
      />
    </Specimen>
  </Spec>
)

const placeOf = (share: number, markers = 0) => ({ share, markers })
const timelineRows: TimelineRow[] = [
  {
    id: 's1',
    name: 'model',
    tookMs: 1_800,
    part: { kind: 'model', from: placeOf(0), to: placeOf(0.15) },
  },
  {
    id: 's2',
    name: 'bash',
    tookMs: 400,
    part: { kind: 'tool', from: placeOf(0.15), to: placeOf(0.2) },
  },
  {
    id: 's3',
    name: 'grep',
    tookMs: 90,
    part: { kind: 'failed', from: placeOf(0.2), to: placeOf(0.22) },
  },
  {
    id: 's4',
    name: 'tester',
    tookMs: 4_700,
    part: { kind: 'agent', from: placeOf(0.22), to: placeOf(0.6) },
  },
  {
    id: 's5',
    name: 'bash',
    depth: 1,
    tookMs: 2_500,
    part: { kind: 'tool', from: placeOf(0.4), to: placeOf(0.6) },
  },
  {
    id: 's6',
    name: 'bash',
    tookMs: 3_000,
    part: { kind: 'tool', from: placeOf(0.6, 1), to: placeOf(0.9, 1) },
    wait: { owner: 'person', ms: 780_000 },
  },
  {
    id: 's7',
    name: 'model',
    tookMs: undefined,
    part: { kind: 'running', from: placeOf(0.9, 2), to: placeOf(1, 2) },
    wait: { owner: 'machine', ms: 60_000 },
  },
  {
    id: 's8',
    name: 'bash',
    tookMs: undefined,
    isAsking: true,
    part: { kind: 'tool', from: placeOf(1, 2), to: placeOf(1, 2) },
  },
]

export const Timelines = () => (
  <Spec name="Timeline">
    <Specimen
      caption="model, tool, failed, a sub-agent with its lane, running; what only waits is a marker"
      size="half"
    >
      <Framed>
        <TimelineTurn
          title="Turn 7"
          times={{ work: 12_000, wait: 840_000, wall: 852_000 }}
          idle={[0.6, 0.9]}
          rows={timelineRows}
          chosen="s2"
          onChoose={nothing}
        />
      </Framed>
    </Specimen>
  </Spec>
)

export const Plots = () => (
  <Spec name="Plot">
    <Specimen caption="line; a gap is a gap" size="half">
      <Plot
        label="Cost by day: between $4 and $20, none on two days"
        kind="line"
        times={days}
        values={costs.map((cost, day) => (day === 7 || day === 8 ? null : cost))}
        unit={formatCost}
      />
    </Specimen>
    <Specimen caption="bars and a limit" size="half">
      <Plot
        label="Cost by day with a limit of $20"
        kind="bars"
        times={days}
        values={costs}
        unit={formatCost}
        limit={20}
      />
    </Specimen>
    <Specimen caption="how much is used">
      <Meter label="Context" share={0.37} />
      <Meter label="Budget" share={0.86} />
      <Meter label="Disk" share={1} />
    </Specimen>
  </Spec>
)

function OpeningCard({
  isOpenAtFirst = false,
  ...card
}: Omit<ToolCardProps, 'isOpen' | 'onOpen'> & { isOpenAtFirst?: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return <ToolCard {...card} isOpen={isOpen} onOpen={setOpen} />
}
