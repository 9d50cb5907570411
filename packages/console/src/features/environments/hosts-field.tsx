import { useState } from 'react'
import { AddLine } from '../../components/add-line.tsx'
import { Field } from '../../components/field.tsx'
import { ListField } from '../../components/list-field.tsx'
import { namesIn } from '../../lib/typed-names.ts'
import { environmentWords as own } from './words.ts'

type HostsFieldProps = {
  label: string
  hint: string
  problem?: string | undefined
  hosts: readonly string[]
  onHosts: (hosts: string[]) => void
}

/** Hosts, several at once with blanks or commas between. */
export function HostsField({ label, hint, problem, hosts, onHosts }: HostsFieldProps) {
  const [typed, setTyped] = useState('')
  const names = namesIn(typed, hosts)
  return (
    <ListField
      label={label}
      hint={hint}
      problem={problem}
      items={hosts.map((host) => ({ id: host, name: host }))}
      onRemove={(host) => onHosts(hosts.filter((each) => each !== host))}
    >
      <AddLine
        verb={own.addHost}
        offBecause={names.length > 0 ? undefined : own.typeHost}
        onAdd={() => {
          onHosts([...hosts, ...names])
          setTyped('')
        }}
      >
        <Field
          isLabelHidden
          label={`${label}: ${own.host}`}
          placeholder={own.host}
          value={typed}
          onChange={setTyped}
        />
      </AddLine>
    </ListField>
  )
}
