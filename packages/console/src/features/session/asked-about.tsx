/** Below the input of a call that asks: where it goes, which credential is for it, and what was decided before. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Quiet } from '../../components/layout.tsx'
import type { Session } from '../../lib/api/types.ts'
import type { ToolCall } from './conversation.ts'
import { decidedText, decisionsAbout } from './decided-before.ts'
import { credentialFor, destinationOf } from './destination.ts'
import { decisionsQuery, logPage, vaultCredentialsQuery } from './session.ts'
import { decidedWords as own } from './words.ts'

type AskedAboutProps = {
  call: ToolCall
  session: Pick<Session, 'id' | 'agent' | 'vault_ids'>
}

export function AskedAbout({ call, session }: AskedAboutProps) {
  const { data: events } = useQuery(decisionsQuery(session.id))
  const decided = useMemo(
    () => events && decidedText(call.name, decisionsAbout(call, events), isWhole(events)),
    [call, events],
  )
  return (
    <Quiet isSmall>
      <Destination call={call} session={session} /> {decided}
    </Quiet>
  )
}

const isWhole = ({ length }: { length: number }): boolean => length < logPage

function Destination({ call, session }: AskedAboutProps) {
  const { url, host } = destinationOf(call, session.agent)
  const vaults = useQueries({
    queries: (url === undefined ? [] : session.vault_ids).map(vaultCredentialsQuery),
  })
  if (host === undefined) return null
  const held = url && vaults.map(({ data }) => data ?? [])
  const credential = held && credentialFor(url, held)
  return credential === undefined ? own.goesTo(host) : own.goesWith(host, credential)
}
