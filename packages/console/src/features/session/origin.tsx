/** The session that a fork began with, and the forks of a session. */
import { useQuery } from '@tanstack/react-query'
import { Time } from '../../components/figures.tsx'
import { ListBox, ListLine } from '../../components/form-page.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import type { Session } from '../../lib/api/types.ts'
import { shortId } from '../../lib/format/ids.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { shortTitleOf } from '../../lib/session/facts.ts'
import { forksQuery, summaryQuery } from './session.ts'
import { originWords as own } from './words.ts'

type ForkOrigin = NonNullable<Session['forked_from']>

/** A session that was deleted since has no page to lead to. */
export function Origin({ of: { session_id: id, seq } }: { of: ForkOrigin }) {
  const { data: origin } = useQuery(summaryQuery(id))
  return (
    <>
      {origin ? <SessionLink id={id} title={shortTitleOf(origin)} /> : shortId(id)}{' '}
      {own.at(formatCount(seq))}
    </>
  )
}

export function Forks({ session }: { session: string }) {
  const { data } = useQuery(forksQuery(session))
  if (!data || data.data.length === 0) return null
  return (
    <Stack gap="normal">
      <Quiet>{own.forks}</Quiet>
      <ListBox>
        {data.data.map((fork) => (
          <ListLine key={fork.id} name={<SessionLink id={fork.id} title={shortTitleOf(fork)} />}>
            <Time at={fork.created_at} />
          </ListLine>
        ))}
      </ListBox>
      {data.next_page !== null && <Quiet isSmall>{own.more}</Quiet>}
    </Stack>
  )
}
