import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FieldGroup, FieldRow, LineNote, ListBox, ListLine } from '../../components/form-page.tsx'
import { Problem } from '../../components/layout.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { words } from '../../lib/words.ts'
import { useServerTrial } from './agents.ts'
import type { DraftFieldProps } from './draft.ts'
import { serverPolicyOf, withoutServer, withServerPolicy } from './draft.ts'
import { policyChoices } from './tools-field.tsx'
import { agentWords as own } from './words.ts'

export function ServersField({ draft, onDraft, problem }: DraftFieldProps) {
  const [isAdding, setAdding] = useState(false)
  const servers = draft.mcp_servers ?? []
  return (
    <FieldGroup
      label={own.fields.mcp}
      problem={problem}
      action={
        <Button size="small" kind="plain" onClick={() => setAdding(!isAdding)}>
          {own.addServer}
        </Button>
      }
    >
      {servers.length > 0 && (
        <ListBox>
          {servers.map(({ name, url, type }) => (
            <ListLine key={name} name={name} about={type === 'stdio' ? own.stdio : url}>
              {type === 'url' && url && <ServerTrial name={name} url={url} />}
              <SmallSelect
                label={own.policyOf(name)}
                choices={policyChoices}
                value={serverPolicyOf(draft, name)}
                onChange={(policy) => onDraft(withServerPolicy(draft, name, policy))}
              />
              <Button
                size="small"
                kind="plain"
                title={words.removeOne(name)}
                onClick={() => onDraft(withoutServer(draft, name))}
              >
                {words.remove}
              </Button>
            </ListLine>
          ))}
        </ListBox>
      )}
      {isAdding && (
        <NewServer
          onAdd={(server) => {
            setAdding(false)
            onDraft({
              ...draft,
              mcp_servers: [...servers, { ...server, type: 'url' as const }],
            })
          }}
        />
      )}
    </FieldGroup>
  )
}

/** What came of connecting stands below the line of the server. */
function ServerTrial({ name, url }: { name: string; url: string }) {
  const trial = useServerTrial()
  const { data, error } = trial
  const names = data?.tools.map((tool) => tool.name).join(', ') ?? ''
  const failed =
    error?.message ?? (data?.error ? `${data.error.message} ${data.error.advice}` : undefined)
  return (
    <>
      <Button
        size="small"
        isBusy={trial.isPending}
        title={own.tryServerOf(name)}
        onClick={() => trial.mutate({ name, url })}
      >
        {own.tryServer}
      </Button>
      {(data ?? error) && (
        <LineNote>
          <Problem text={failed}>
            {own.serverTools(data?.tools.length ?? 0, names)} {data?.left_out}
          </Problem>
        </LineNote>
      )}
    </>
  )
}

function NewServer({ onAdd }: { onAdd: (server: { name: string; url: string }) => void }) {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const isWhole = name.trim() !== '' && URL.canParse(url)
  return (
    <>
      <FieldRow>
        <Field
          label={own.serverName}
          placeholder={own.namePattern}
          value={name}
          onChange={setName}
          autoFocus
        />
        <Field
          label={own.serverUrl}
          placeholder={own.serverPlaceholder}
          value={url}
          onChange={setUrl}
        />
      </FieldRow>
      <div>
        <Button
          offBecause={isWhole ? undefined : own.serverPlaceholder}
          onClick={() => onAdd({ name: name.trim(), url: url.trim() })}
        >
          {own.addServer}
        </Button>
      </div>
    </>
  )
}
