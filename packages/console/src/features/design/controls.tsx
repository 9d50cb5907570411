/** Buttons, fields, choices and the filter line, each in its states. */
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Check, Choices, Switch } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Chip, FilterLine } from '../../components/filter-line.tsx'
import { IconCopy } from '../../components/icons.tsx'
import { Row } from '../../components/layout.tsx'
import { Select } from '../../components/select.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import type { FilterField } from '../../lib/filters.ts'

const nothing = () => {}

const kinds = [
  ['primary', 'New session', 'the one action of the page'],
  ['yes', 'Approve', 'lets something happen'],
  ['normal', 'Fork', 'everything else'],
  ['danger', 'Revoke key', 'cannot be undone; asks first'],
  ['plain', 'Cancel', 'leaves things as they are'],
] as const

export const Buttons = () => (
  <Spec name="Button">
    {kinds.map(([kind, label, when]) => (
      <Specimen key={kind} caption={`${kind}: ${when}`} size="half">
        <Row isWrapped>
          <Button kind={kind}>{label}</Button>
          <Button kind={kind} keys={label[0] ?? ''}>
            {label}
          </Button>
          <Button kind={kind} offBecause="A viewer reads and changes nothing">
            {label}
          </Button>
          <Button kind={kind} isBusy>
            {label}
          </Button>
        </Row>
      </Specimen>
    ))}
    <Specimen caption="icon: its name in the title and for screen readers" size="half">
      <Row>
        <Button label="Copy id" icon={<IconCopy />} />
        <Button label="Copy the name" icon={<IconCopy />} offBecause="There is nothing to copy" />
        <Button label="Copy all" icon={<IconCopy />} isBusy />
      </Row>
    </Specimen>
  </Spec>
)

export function Fields() {
  const [name, setName] = useState('nightly audit')
  const [empty, setEmpty] = useState('')
  return (
    <Spec name="Field">
      <Specimen caption="empty">
        <Field
          label="Name"
          value={empty}
          onChange={setEmpty}
          placeholder="for example nightly audit"
          hint="Shown in lists. Can be changed later."
        />
      </Specimen>
      <Specimen caption="filled">
        <Field label="Title" value={name} onChange={setName} />
      </Specimen>
      <Specimen caption="error">
        <Field
          label="Budget of a run"
          value="0.005"
          onChange={nothing}
          problem="The smallest budget is $0.01. Leave it empty for no limit."
        />
      </Specimen>
      <Specimen caption="off">
        <Field
          label="Type"
          value="self_hosted"
          onChange={nothing}
          isOff
          hint="Fixed when the environment was made."
        />
      </Specimen>
      <Specimen caption="secret, set before">
        <Field
          label="Token"
          type="password"
          value=""
          onChange={nothing}
          placeholder="set on 3 Nov; type to replace it"
          hint="Never shown, never in the request beside it."
        />
      </Specimen>
      <Specimen caption="with a unit">
        <Field label="Time limit" type="number" value="30" onChange={nothing} unit="minutes" />
      </Specimen>
      <Specimen caption="several lines" size="half">
        <Field label="Instructions" value="You review changes." onChange={nothing} isLong />
      </Specimen>
    </Spec>
  )
}

const roles = [
  { value: 'viewer', label: 'viewer', beside: 'reads' },
  { value: 'member', label: 'member', beside: 'makes, runs, approves' },
  { value: 'admin', label: 'admin', beside: 'keys and members' },
  { value: 'owner', label: 'owner', offBecause: 'only an owner gives it' },
] as const
type RoleName = (typeof roles)[number]['value']

export function Selects() {
  const [role, setRole] = useState<RoleName>('member')
  const [isOn, setOn] = useState(true)
  const [one, setOne] = useState<'one' | 'other'>('one')
  return (
    <Spec name="Select, checks">
      <Specimen caption="select: opens by click, enter and arrow keys">
        <Select label="Role" choices={roles} value={role} onChange={setRole} />
      </Specimen>
      <Specimen caption="off">
        <Select label="Role of the owner" choices={roles} value="owner" onChange={nothing} isOff />
      </Specimen>
      <Specimen caption="checks, switches">
        <Row gap="wide" isWrapped>
          <Check label="on or off" isOn={isOn} onChange={setOn} />
          <Check label="off" isOn={false} onChange={nothing} isOff />
          <Switch label="switch" isOn={isOn} onChange={setOn} />
          <Switch label="off" isOn={false} onChange={nothing} isOff />
        </Row>
      </Specimen>
      <Specimen caption="one of several">
        <Choices
          label="Which"
          choices={[
            { value: 'one', label: 'one' },
            { value: 'other', label: 'other' },
          ]}
          value={one}
          onChange={setOne}
        />
      </Specimen>
    </Spec>
  )
}

const fields: readonly FilterField[] = [
  { name: 'status', values: ['running', 'idle', 'failed'], isMany: true },
  {
    name: 'agent',
    about: 'by name; two are called twin',
    things: {
      isId: (value) => value.startsWith('agent_'),
      all: [
        { id: 'agent_1', name: 'reviewer' },
        { id: 'agent_2', name: 'twin' },
        { id: 'agent_3', name: 'twin' },
      ],
    },
  },
  { name: 'text', about: 'words of the title', isText: true },
]

export function FilterLines() {
  const [filters, setFilters] = useState<Record<string, string>>({
    status: 'failed',
    agent: 'agent_1',
  })
  return (
    <Spec name="Filter line">
      <Specimen
        caption="words, values and names complete; other words are text; two of one name are a choice"
        size="whole"
      >
        <Framed>
          <FilterLine
            label="Filter an example"
            placeholder="words, or filters: status, agent"
            fields={fields}
            filters={filters}
            onChange={setFilters}
          />
        </Framed>
      </Specimen>
      <Specimen caption="chips: one value, several values, with a button to remove" size="whole">
        <Row isWrapped>
          <Chip name="agent" value="auditor" />
          <Chip name="status" value="running,failed" />
          <Chip name="since" value="1d" onRemove={nothing} />
        </Row>
      </Specimen>
    </Spec>
  )
}
