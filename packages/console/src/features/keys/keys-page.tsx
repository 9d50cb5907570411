/** The keys of the workspace: which there are, a new one, and the end of one. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Suspense, useMemo, useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { Check } from '../../components/choices.tsx'
import { Time, TimeLeft } from '../../components/figures.tsx'
import { Quiet, Row, Stack, ToolLine } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { Panel } from '../../components/panel.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { SettingsPage } from '../../components/settings-page.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { memberChoices } from '../../lib/api/choices.ts'
import type { ApiKey, ApiKeyWithValue } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useIsAdmin, useNoAdminReason, useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { KeyForm } from './key-form.tsx'
import { keysQuery, useKeyRevoke } from './keys.ts'
import { MadeKey } from './made-key.tsx'
import { RevokedKeys } from './revoked-keys.tsx'
import { RightsOf } from './rights-of.tsx'
import { keyWords as own } from './words.ts'

const idOf = ({ id }: ApiKey): string => id

export function KeysPage() {
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<ApiKeyWithValue>()
  const [revoking, setRevoking] = useState<ApiKey>()
  const [withRevoked, setWithRevoked] = useState(false)
  const isAdmin = useIsAdmin()
  const query = useInfiniteQuery(keysQuery(made?.id))
  const list = listStateOf(query)
  const columns = useColumns(list.rows, setRevoking)
  const readOnly = useReadOnlyReason()
  const make = (
    <Button kind="primary" offBecause={readOnly} onClick={() => setMaking(true)}>
      {own.make}
    </Button>
  )
  return (
    <SettingsPage
      title={own.title}
      beside={list.rows && !list.more && own.working(workingOf(list.rows))}
      actions={isMaking || made ? undefined : make}
    >
      {isMaking && (
        <KeyForm
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false)
            setMade(key)
          }}
        />
      )}
      {made && (
        <MadeKey
          made={made}
          now={list.rows?.find(({ id }) => id === made.id)}
          onDone={() => setMade(undefined)}
          onRevoke={() => setRevoking(made)}
        />
      )}
      <Panel title={own.title}>
        {isAdmin && (
          <ToolLine>
            <Check label={own.showRevoked} isOn={withRevoked} onChange={setWithRevoked} />
          </ToolLine>
        )}
        <RecordTable
          label={own.title}
          list={list}
          columns={columns}
          keyOf={idOf}
          empty={
            <Empty
              action={make}
              request={`curl -X POST …/v1/ext/api_keys -H "x-api-key: $STEWARD_API_KEY" \\\n  -d '{ "name": "release-bot" }'`}
            >
              {own.none}
            </Empty>
          }
        />
      </Panel>
      {isAdmin && withRevoked && <RevokedKeys />}
      {revoking && (
        <Revocation
          of={revoking}
          onClose={() => setRevoking(undefined)}
          onRevoked={() => {
            setRevoking(undefined)
            if (revoking.id === made?.id) setMade(undefined)
          }}
        />
      )}
    </SettingsPage>
  )
}

const workingOf = (keys: readonly ApiKey[]): number =>
  keys.filter(({ expires_at: end }) => end === null || Date.parse(end) > Date.now()).length

function useColumns(
  keys: readonly ApiKey[] | undefined,
  onRevoke: (key: ApiKey) => void,
): TableColumn<ApiKey>[] {
  const readOnly = useReadOnlyReason()
  const noAdmin = useNoAdminReason()
  const { data: members } = useQuery(memberChoices)
  return useMemo(() => {
    const people = new Map(members?.map(({ id, name }) => [id, name]))
    const makers = new Map(keys?.map(({ id, name }) => [id, own.byKey(name)]))
    const makerOf = ({ created_by: by }: ApiKey): string =>
      by === null ? own.operator : (people.get(by) ?? makers.get(by) ?? own.byOther)
    return [
      { name: own.columns.name, isStrong: true, show: ({ name }) => name },
      {
        name: own.columns.key,
        width: 86,
        from: 'drawer',
        show: ({ kind, preview }) =>
          kind === 'oauth' ? <Quiet>{own.login}</Quiet> : <code>{preview}</code>,
      },
      { name: own.columns.rights, from: 'phone', show: (key) => <RightsOf of={key} /> },
      {
        name: own.columns.maker,
        width: 212,
        from: 'wide',
        show: (key) => (
          <>
            {makerOf(key)}, <Time at={key.created_at} />
          </>
        ),
      },
      {
        name: own.columns.used,
        width: 84,
        from: 'phone',
        isNumber: true,
        show: ({ last_used_at: at }) =>
          at === null ? <Quiet>{own.neverUsed}</Quiet> : <Time at={at} />,
      },
      {
        name: own.columns.ends,
        width: 74,
        isNumber: true,
        show: ({ expires_at: at }) => <TimeLeft at={at} />,
      },
      {
        name: own.columns.actions,
        width: 104,
        isNumber: true,
        isNameHidden: true,
        show: (key) => (
          <Button
            kind="plain"
            size="small"
            title={own.revokeOf(key.name)}
            offBecause={readOnly ?? (key.admin ? noAdmin : undefined)}
            onClick={() => onRevoke(key)}
          >
            {own.revoke}
          </Button>
        ),
      },
    ]
  }, [keys, members, noAdmin, readOnly, onRevoke])
}

function Revocation({
  of: key,
  onClose,
  onRevoked,
}: {
  of: ApiKey
  onClose: () => void
  onRevoked: () => void
}) {
  const revoke = useKeyRevoke()
  return (
    <Suspense>
      <AskBefore
        title={own.revokeOf(key.name)}
        verb={own.revokeVerb}
        isDanger
        action={revoke}
        onClose={onClose}
        onConfirm={() =>
          revoke.mutate(key.id, {
            onSuccess: () => {
              say({ kind: 'done', text: own.revoked(key.name) })
              onRevoked()
            },
          })
        }
      >
        <Stack gap="normal">
          <span>{own.revokeText}</span>
          <Row gap="small">
            <Quiet>
              {own.lastUse}{' '}
              {key.last_used_at === null ? own.neverUsed : <Time at={key.last_used_at} />}
            </Quiet>
          </Row>
        </Stack>
      </AskBefore>
    </Suspense>
  )
}
