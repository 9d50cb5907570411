import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../../components/button.tsx'
import { Cost, Duration, Fact, Id, Tokens } from '../../components/figures.tsx'
import { FactLine } from '../../components/session-layout.tsx'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { costOf, tokensOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import { Origin } from './origin.tsx'
import { allowancesQuery, useAllowance } from './session.ts'
import { originWords } from './words.ts'

type SessionFactsProps = { session: Session; short: ShortSession | undefined }

export const SessionFacts = ({ session, short }: SessionFactsProps) => (
  <FactLine>
    {short && <Fact name={words.session.turn}>{short.turns}</Fact>}
    <Fact name={words.session.agent}>
      <Link to="/agents/$agentId" params={{ agentId: session.agent.id }}>
        {session.agent.name}@{session.agent.version}
      </Link>
    </Fact>
    {session.forked_from && (
      <Fact name={originWords.from}>
        <Origin of={session.forked_from} />
      </Fact>
    )}
    <Fact name={words.session.active}>
      <Duration ms={session.stats.active_seconds * 1_000} />
    </Fact>
    <Fact name={words.session.tokens}>
      <Tokens count={tokensOf(session)} />
    </Fact>
    <Fact name={words.session.cost}>
      <Cost dollars={costOf(session)} />
    </Fact>
    {typeof short?.context.share === 'number' && (
      <Fact name={words.session.context}>{percent(short.context.share)}</Fact>
    )}
    <AllowedTools session={session.id} />
    <Id of={session.id} />
  </FactLine>
)

const percent = (share: number): string =>
  share > 0 && share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`

/** Tools that run here without asking; a click takes that back. */
function AllowedTools({ session }: { session: string }) {
  const { data } = useQuery(allowancesQuery(session))
  const change = useAllowance(session)
  const readOnly = useReadOnlyReason()
  if (!data || data.data.length === 0) return null
  return (
    <Fact name={words.session.allowed}>
      {data.data.map(({ tool }) => (
        <Button
          key={tool}
          size="small"
          kind="plain"
          offBecause={readOnly}
          title={words.session.takeBack(tool)}
          onClick={() => change.mutate({ tool, isAllowed: false })}
        >
          {tool} ×
        </Button>
      ))}
    </Fact>
  )
}
