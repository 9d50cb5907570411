/** Keys of workers: made, shown once in the command of a worker, and revoked. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Time } from '../../components/figures.tsx'
import { Form } from '../../components/form.tsx'
import { Problem, Quiet, Row } from '../../components/layout.tsx'
import { Panel, PanelBody, PanelEmpty } from '../../components/panel.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { SecretCommand } from '../../components/secret-command.tsx'
import { Select } from '../../components/select.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { ApiKey, Environment } from '../../lib/api/types.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { serviceUrl } from '../../lib/place.ts'
import { useNoAdminReason, useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import {
  useWorkerKeyCreate,
  useWorkerKeyRevoke,
  workerKeysQuery,
  workFiguresQuery,
} from './environments.ts'
import { environmentWords as own } from './words.ts'

export type MadeKey = {
  id: string
  name: string
  /** SECRET: shown once, never kept beyond the page. */
  key: string
}

/** What a machine with a clone of Steward runs. */
const commandOf = (environment: string, key: string): string =>
  [
    `export WORKER_BASE_URL=${serviceUrl}`,
    `export WORKER_ENVIRONMENT_ID=${environment}`,
    `export WORKER_ENVIRONMENT_KEY=${key}`,
    'npm run worker',
  ].join('\n')

type NewKeyProps = {
  environment: Environment
  made: MadeKey | undefined
  onMade: (key: MadeKey | undefined) => void
}

export function NewKey({ environment, made, onMade }: NewKeyProps) {
  const { data: figures } = useQuery(workFiguresQuery(environment.id))
  if (!made) return <KeyForm environment={environment} onMade={onMade} />
  const polling = figures?.workers_polling ?? 0
  return (
    <SecretCommand
      title={own.startWith(made.name)}
      command={commandOf(environment.id, made.key)}
      secret={made.key}
      onDone={() => onMade(undefined)}
    >
      <Status tone={polling > 0 ? 'done' : 'queued'}>
        {polling > 0 ? own.workersAsk(polling) : own.noWorkerAsks}
      </Status>
    </SecretCommand>
  )
}

function KeyForm({ environment, onMade }: Omit<NewKeyProps, 'made'>) {
  const [name, setName] = useState('')
  const [reach, setReach] = useState<keyof typeof own.reach>('work')
  const create = useWorkerKeyCreate()
  const readOnly = useReadOnlyReason()
  const admin = useNoAdminReason()
  const isArchived = environment.archived_at !== null
  const why =
    readOnly ??
    admin ??
    (isArchived ? own.isArchived : name.trim() === '' ? own.nameKey : undefined)
  const problems = problemsOf(create.error, ['name'])
  const make = () =>
    why === undefined &&
    create.mutate(
      { name: name.trim(), environment: environment.id, reach },
      { onSuccess: (key) => onMade({ id: key.id, name: key.name, key: key.key }) },
    )
  return (
    <Panel title={own.startWorker}>
      <PanelBody>
        <Form onSubmit={make}>
          <Quiet>{own.startHint}</Quiet>
          <Field
            label={own.keyName}
            placeholder={own.keyPlaceholder}
            value={name}
            problem={problems.fields['name']}
            onChange={setName}
          />
          <Select
            label={own.keyReach}
            choices={keysOf(own.reach).map((value) => ({ value, label: own.reach[value] }))}
            value={reach}
            onChange={setReach}
          />
          <Problem text={problems.rest} />
          <Row>
            <Button type="submit" kind="primary" isBusy={create.isPending} offBecause={why}>
              {own.makeKey}
            </Button>
          </Row>
        </Form>
      </PanelBody>
    </Panel>
  )
}

const keyColumns = (
  readOnly: string | undefined,
  revoke: (key: ApiKey) => void,
): TableColumn<ApiKey>[] => [
  { name: own.keyColumns.name, isStrong: true, show: ({ name }) => name },
  { name: own.keyColumns.preview, width: 90, from: 'phone', show: ({ preview }) => preview },
  {
    name: own.keyColumns.used,
    width: 100,
    isNumber: true,
    show: ({ last_used_at: at }) => (at === null ? own.neverUsed : <Time at={at} />),
  },
  {
    name: own.keyColumns.change,
    width: 96,
    isNumber: true,
    show: (key) => (
      <Button size="small" kind="plain" offBecause={readOnly} onClick={() => revoke(key)}>
        {own.revoke}
      </Button>
    ),
  },
]

export function WorkerKeys({ id, onRevoked }: { id: string; onRevoked: (key: string) => void }) {
  const query = useInfiniteQuery(workerKeysQuery(id))
  const [revoking, setRevoking] = useState<ApiKey>()
  const readOnly = useReadOnlyReason()
  return (
    <Panel title={own.keys} beside={own.keysHint}>
      <RecordTable
        label={own.keys}
        list={listStateOf(query)}
        columns={keyColumns(readOnly, setRevoking)}
        keyOf={(key) => key.id}
        empty={<PanelEmpty>{own.noKeys}</PanelEmpty>}
      />
      {revoking && (
        <Revocation
          apiKey={revoking}
          environment={id}
          onClose={() => setRevoking(undefined)}
          onRevoked={onRevoked}
        />
      )}
    </Panel>
  )
}

function Revocation({
  apiKey,
  environment,
  onClose,
  onRevoked,
}: {
  apiKey: ApiKey
  environment: string
  onClose: () => void
  onRevoked: (key: string) => void
}) {
  const revoke = useWorkerKeyRevoke(environment)
  const { id, name } = apiKey
  return (
    <AskBefore
      title={own.revokeTitle(name)}
      verb={own.revokeVerb}
      isDanger
      action={revoke}
      onClose={onClose}
      onConfirm={() =>
        revoke.mutate(id, {
          onSuccess: () => {
            say({ kind: 'done', text: own.revokedNow(name) })
            onRevoked(id)
            onClose()
          },
        })
      }
    >
      {own.revokeText}
    </AskBefore>
  )
}
