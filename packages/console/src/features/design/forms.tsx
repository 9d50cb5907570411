/** Pieces of pages that change things and look into them: choices by typing, requests, boxes of lines, diffs, finds. */
import { useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ChosenField } from '../../components/chosen-field.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { FindLine, FoundLine } from '../../components/find-line.tsx'
import { FirstDay, StartCard, StartCards } from '../../components/first-day.tsx'
import { FieldGroup, LineNote, ListBox, ListLine } from '../../components/form-page.tsx'
import { Meter, MiniTable } from '../../components/inspector.tsx'
import { ListChoice, Problem, Stack } from '../../components/layout.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { UnifiedDiff } from '../../components/unified-diff.tsx'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { agentCall, fileDiff } from './examples.ts'

const nothing = () => {}

const models = [
  { value: 'model-large', label: 'model-large', beside: '200k context' },
  { value: 'model-small', label: 'model-small', beside: '128k context' },
  { value: 'offline', label: 'offline', beside: 'Offline model' },
]

export function Comboboxes() {
  const [model, setModel] = useState('model-large')
  const [place, setPlace] = useState('offline')
  const [chosen, setChosen] = useState(['model-small'])
  return (
    <Spec name="Combobox">
      <Specimen caption="choices, or any other word" size="third">
        <Combobox
          isFree
          label="Model"
          choices={models}
          value={model}
          onChange={setModel}
          hint="200k context, 32k output"
          none="No model has this name."
        />
      </Specimen>
      <Specimen caption="choices alone" size="third">
        <Combobox
          label="Environment"
          choices={models}
          value={place}
          onChange={setPlace}
          none="None has this name."
        />
      </Specimen>
      <Specimen caption="error" size="third">
        <Combobox
          isFree
          label="Model of the advisor"
          choices={models}
          value="model-lrge"
          onChange={nothing}
          problem="is no model of this workspace"
          none="No model has this name."
        />
      </Specimen>
      <Specimen caption="several: what was chosen, and a field for more" size="half">
        <ChosenField
          label="Skills"
          hint="Read when the task needs them"
          add="Add a skill"
          none="No skill has this name."
          chosen={chosen.map((id) => ({ id, name: id, about: 'latest' }))}
          choices={models}
          onAdd={(id) => setChosen([...chosen, id])}
          onRemove={(id) => setChosen(chosen.filter((each) => each !== id))}
        />
      </Specimen>
      <Specimen
        caption="box of lines: each with its choice, and what is to be said of it"
        size="half"
      >
        <FieldGroup label="Tools of the agent" hint="What asks waits for a person.">
          <ListBox>
            <ListLine name="bash" about="runs commands">
              <SmallSelect
                label="What bash may do"
                choices={[
                  { value: 'allowed', label: 'allowed' },
                  { value: 'asks', label: 'asks before each call' },
                ]}
                value="asks"
                onChange={nothing}
              />
            </ListLine>
            <ListLine name="shop" about="https://shop.example/mcp">
              <Button size="small">Try</Button>
              <LineNote>
                <Problem text="shop.example answered 401. Give it a credential of a vault." />
              </LineNote>
            </ListLine>
          </ListBox>
        </FieldGroup>
      </Specimen>
    </Spec>
  )
}

export function Requests() {
  const [whole, setWhole] = useState<JsonBody>(agentCall.body)
  return (
    <Spec name="Request">
      <Specimen
        caption="what a form will send; what changed is marked, and YAML can be written"
        size="half"
      >
        <Framed>
          <RequestView
            call={agentCall}
            before={{ ...agentCall, body: { ...agentCall.body, system: 'You review.' } }}
            whole={whole}
            onWhole={setWhole}
          />
        </Framed>
      </Specimen>
    </Spec>
  )
}

type Row = { id: string; name: string }
const columns: readonly TableColumn<Row>[] = [
  { name: 'Name', isStrong: true, show: (row) => row.name },
]
const idOf = ({ id }: Row): string => id
const settled = { error: null, again: nothing, more: undefined, isLoadingMore: false }

export const Records = () => (
  <Spec name="List">
    <Specimen caption="rows, and more of them" size="third">
      <Framed>
        <RecordTable
          label="Agents, with more"
          list={{ ...settled, rows: [{ id: '1', name: 'reviewer' }], more: nothing }}
          columns={columns}
          keyOf={idOf}
          empty={null}
        />
      </Framed>
    </Specimen>
    <Specimen caption="it could not be read" size="third">
      <Framed>
        <RecordTable
          label="Agents, failed"
          list={{ ...settled, rows: undefined, error: new Error('The server does not answer.') }}
          columns={columns}
          keyOf={idOf}
          empty={null}
        />
      </Framed>
    </Specimen>
    <Specimen caption="choices beside what they open" size="third">
      <Framed>
        <ListChoice isChosen onChoose={nothing} end="now">
          version 2
        </ListChoice>
        <ListChoice isChosen={false} onChoose={nothing} end="3 d">
          version 1
        </ListChoice>
      </Framed>
    </Specimen>
  </Spec>
)

export function Finds() {
  const [looked, setLooked] = useState('timer')
  const [isFailed, setFailed] = useState(false)
  const line = useRef<HTMLInputElement>(null)
  return (
    <Spec name="Find">
      <Specimen caption="in a whole session" size="half">
        <Framed>
          <FindLine
            value={looked}
            onChange={setLooked}
            errorsOnly={isFailed}
            onErrorsOnly={setFailed}
            inputRef={line}
          />
          <FoundLine
            type="agent.tool_result"
            seq="41"
            before="1 failing: "
            text="timer"
            after=" fires twice"
            isError
            isChosen
            onChoose={nothing}
          />
          <FoundLine
            type="agent.message"
            seq="40"
            before="I look at the "
            text="timer"
            after=" first."
            isError={false}
            isChosen={false}
            onChoose={nothing}
          />
        </Framed>
      </Specimen>
      <Specimen caption="figures of a pane" size="half">
        <Stack>
          <Meter label="Context" share={0.42}>
            84.1k of 200k
          </Meter>
          <Meter label="Context, nearly full" share={0.94}>
            188k of 200k
          </Meter>
          <MiniTable
            label="Tools"
            heads={['Tool', 'Calls', 'Failed']}
            rows={[
              {
                key: 'bash',
                cells: [
                  'bash',
                  12,
                  <Status key="failed" tone="failed">
                    2
                  </Status>,
                ],
              },
              { key: 'read', cells: ['read', 7, '–'] },
            ]}
          />
        </Stack>
      </Specimen>
      <Specimen caption="what changed in a file, and why lines were not compared" size="half">
        <Stack gap="normal">
          <UnifiedDiff title="changed src/timer.ts" diff={fileDiff} added={1} removed={1} isOpen />
          <UnifiedDiff
            title="new logo.png"
            diff={undefined}
            reason="This file is no text."
            added={undefined}
            removed={undefined}
            isOpen
          />
        </Stack>
      </Specimen>
    </Spec>
  )
}

export const FirstDays = () => (
  <Spec name="First day">
    <Specimen caption="steps that are done or not, and things to begin with" size="whole">
      <Framed>
        <FirstDay
          title="Your first day, shown"
          hide={<Button size="small">Hide this</Button>}
          steps={[
            { name: 'A model answers', text: 'It is ready.', isDone: true, doneWord: 'done' },
            { name: 'Make an agent', text: 'Take one of these.', isDone: false, doneWord: 'done' },
          ]}
        >
          <StartCards title="Things that do something at once" hint="they can be archived">
            <StartCard
              title="Write a program"
              text="Writes a small program, and runs it."
              works="sandbox, all tools allowed"
              action={<Button>Make and run</Button>}
            />
          </StartCards>
        </FirstDay>
      </Framed>
    </Specimen>
  </Spec>
)
