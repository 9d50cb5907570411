import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { VaultCredential } from '../../lib/api/types.ts'
import { formatAge } from '../../lib/format/times.ts'
import type { ListState } from '../../lib/list-state.ts'
import { minuteHand } from '../../lib/now.ts'
import { useStore } from '../../lib/store.ts'
import { destinationOf, nameOf } from './credential-draft.ts'
import type { ShownAuth } from './credential-draft.ts'
import { endOf, stateOf, stateTones } from './credential-state.ts'
import { lastUseQuery } from './vaults.ts'
import { credentialWords as own } from './words.ts'

/** Where it goes, as people say it. */
export function destinationText(auth: ShownAuth): string {
  if (auth.type === 'cap_cli') return own.hostsOf.cli(auth.cli_id)
  if (auth.type === 'command_secret') return destinationOf(auth) || own.everyCommand
  return destinationOf(auth) || own.hostsOf.any
}

export function CredentialStatus({ credential }: { credential: VaultCredential }) {
  const { data } = useQuery(lastUseQuery(credential.id))
  const now = useStore(minuteHand)
  if (!data) return null
  const state = stateOf(credential, data[0], now)
  const end = endOf(credential)
  return (
    <Status tone={stateTones[state]} title={own.stateTitle[state]}>
      {state === 'ending' && end !== undefined
        ? own.endsIn(formatAge(end - now))
        : own.state[state]}
    </Status>
  )
}

function LastUse({ credential }: { credential: VaultCredential }) {
  const { data } = useQuery(lastUseQuery(credential.id))
  const [last] = data ?? []
  return last ? <Time at={last.created_at} /> : '–'
}

const columns: readonly TableColumn<VaultCredential>[] = [
  {
    name: own.columns.state,
    width: 118,
    show: (credential) => <CredentialStatus credential={credential} />,
  },
  {
    name: own.columns.name,
    isStrong: true,
    show: (credential) => (
      <RecordLink
        to="/vaults/$vaultId"
        params={{ vaultId: credential.vault_id }}
        search={{ credential: credential.id }}
      >
        {nameOf(credential)}
      </RecordLink>
    ),
  },
  { name: own.columns.to, from: 'phone', show: ({ auth }) => destinationText(auth) },
  {
    name: own.columns.type,
    width: 180,
    from: 'wide',
    show: ({ auth }) => <Quiet>{auth.type}</Quiet>,
  },
  {
    name: own.columns.used,
    width: 84,
    isNumber: true,
    from: 'drawer',
    show: (credential) => <LastUse credential={credential} />,
  },
]

const idOf = ({ id }: VaultCredential): string => id

type CredentialTableProps = {
  list: ListState<VaultCredential>
  opened: string | undefined
  onOpen: (credential: VaultCredential) => void
  /** Stands where no credential is. */
  add: ReactNode
}

export const CredentialTable = ({ list, opened, onOpen, add }: CredentialTableProps) => (
  <RecordTable
    label={own.title}
    list={list}
    columns={columns}
    keyOf={idOf}
    opened={opened}
    onOpen={onOpen}
    empty={
      <Empty
        action={add}
        request={`await client.beta.vaults.credentials.create(vault.id, {\n  auth: {\n    type: 'static_bearer',\n    mcp_server_url: 'https://mcp.example.com/mcp',\n    token: process.env.TOKEN,\n  },\n})`}
      >
        {own.none}
      </Empty>
    }
  />
)
