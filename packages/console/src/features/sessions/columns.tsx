/** The columns of the list of sessions, and which of them this browser shows. */
import { useQuery } from '@tanstack/react-query'
import { Cost, Duration, Time, Tokens } from '../../components/figures.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { environmentChoices } from '../../lib/api/choices.ts'
import type { SessionSummary } from '../../lib/api/types.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { shortCostOf, shortTitleOf, shortTokensOf, stateOf } from '../../lib/session/facts.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { words } from '../../lib/words.ts'

const { columns: names } = words.sessions

const always: readonly TableColumn<SessionSummary>[] = [
  { name: names.status, width: 150, show: (session) => <SessionStatusSign {...session} /> },
  {
    name: names.title,
    isStrong: true,
    show: (session) => <SessionLink id={session.id} title={shortTitleOf(session)} />,
  },
]

/** Those that can be chosen, in their order. */
const optional = {
  agent: {
    name: names.agent,
    width: 180,
    from: 'drawer',
    show: ({ agent_name, agent_version }) => `${agent_name}@${agent_version}`,
  },
  environment: {
    name: names.environment,
    width: 130,
    from: 'wide',
    show: ({ environment_id: id }) => <EnvironmentName id={id} />,
  },
  creator: {
    name: names.creator,
    width: 130,
    from: 'wide',
    show: ({ created_by: by }) => by?.name ?? by?.type ?? '–',
  },
  tokens: {
    name: names.tokens,
    width: 84,
    isNumber: true,
    from: 'split',
    show: (session) => <Tokens count={shortTokensOf(session)} />,
  },
  cost: {
    name: names.cost,
    width: 84,
    isNumber: true,
    from: 'phone',
    show: (session) => <Cost dollars={shortCostOf(session)} />,
  },
  turns: {
    name: names.turns,
    width: 72,
    isNumber: true,
    from: 'wide',
    show: ({ turns }) => turns ?? '–',
  },
  active: {
    name: names.active,
    width: 100,
    isNumber: true,
    from: 'split',
    show: ({ active_seconds: seconds }) => <Duration ms={seconds * 1_000} />,
  },
  last: {
    name: names.last,
    width: 170,
    from: 'wide',
    show: ({ last_event: last }) => last?.tool ?? last?.type ?? '–',
  },
  created: {
    name: names.created,
    width: 84,
    isNumber: true,
    from: 'wide',
    show: ({ created_at: at }) => <Time at={at} />,
  },
  updated: {
    name: names.updated,
    width: 84,
    isNumber: true,
    show: ({ last_event, updated_at }) => <Time at={last_event?.created_at ?? updated_at} />,
  },
} as const satisfies Record<string, TableColumn<SessionSummary>>
type ColumnName = keyof typeof optional
const optionalOf = (name: ColumnName): TableColumn<SessionSummary> => optional[name]

function SessionStatusSign(session: Pick<SessionSummary, 'status' | 'waiting_on' | 'failure'>) {
  const { tone, word, more } = stateOf(session)
  return (
    <Status tone={tone} title={more}>
      {word}
    </Status>
  )
}

function EnvironmentName({ id }: { id: string }) {
  const { data } = useQuery(environmentChoices)
  const name = data?.find((each) => each.id === id)?.name ?? id
  return <span title={name}>{name}</span>
}

const usual: readonly ColumnName[] = ['agent', 'tokens', 'cost', 'active', 'updated']
const keptName = 'steward.session-columns'

function readChosen(): readonly ColumnName[] {
  try {
    const kept = localStorage.getItem(keptName)?.split(',')
    return kept ? keysOf(optional).filter((name) => kept.includes(name)) : usual
  } catch {
    return usual
  }
}

const chosen = createStore(readChosen())

function choose(next: readonly ColumnName[]): void {
  chosen.set(next)
  try {
    if (next === usual) localStorage.removeItem(keptName)
    else localStorage.setItem(keptName, next.join(','))
  } catch {
    // It holds until the page is left.
  }
}

/** A row of the menu of columns. */
type ColumnChoice = {
  name: string
  /** Below this width of the page it is not shown. */
  from: TableColumn<SessionSummary>['from']
  isShown: boolean
  turn: () => void
}

/** `shown`: the same list as long as the choice is the same. */
export function useColumns(): {
  shown: readonly TableColumn<SessionSummary>[]
  choices: readonly ColumnChoice[]
  /** Undefined where the usual ones are shown. */
  reset: (() => void) | undefined
} {
  const now = useStore(chosen)
  const isUsual = now.join() === usual.join()
  return {
    shown: shownOf(now),
    choices: keysOf(optional).map((name) => ({
      name: optionalOf(name).name,
      from: optionalOf(name).from,
      isShown: now.includes(name),
      turn: () => choose(keysOf(optional).filter((each) => (each === name) !== now.includes(each))),
    })),
    reset: isUsual ? undefined : () => choose(usual),
  }
}

const shownOf = (now: readonly ColumnName[]): readonly TableColumn<SessionSummary>[] => [
  ...always,
  ...now.map(optionalOf),
]
