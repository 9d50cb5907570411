/** Home: what asks people, what runs, what has failed, and what it costs. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ButtonLink } from '../../components/button-link.tsx'
import { Cost, Duration, Time } from '../../components/figures.tsx'
import { Scroll } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import {
  Figure,
  FigureRow,
  Panel,
  PanelBody,
  PanelEmpty,
  PanelLine,
  Panels,
} from '../../components/panel.tsx'
import { Plot } from '../../components/plot.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import { StatusSign } from '../../components/status.tsx'
import type { Overview, SessionSummary } from '../../lib/api/types.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { formatCost } from '../../lib/format/numbers.ts'
import { dollarsOf, shortTitleOf, stateOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import { FirstDaySteps } from './first-day.tsx'
import { asksQuery, failedQuery, noteLook, overviewQuery, runningQuery } from './home.ts'

const { home: own } = words

export function HomePage({ onSession }: { onSession: (id: string) => void }) {
  const overview = useQuery(overviewQuery)
  const client = useQueryClient()
  useEffect(() => {
    // Where it fails, failures are counted since yesterday.
    void noteLook(client).catch(() => {})
  }, [client])
  const asks = useQuery(asksQuery)
  const running = useQuery(runningQuery)
  const failed = useQuery(failedQuery)
  if (overview.isPending) return <Page title={words.pages.home}>{<Skeleton />}</Page>
  if (!overview.data) {
    const { error } = overview
    const again = () => void overview.refetch()
    return (
      <Page title={words.pages.home}>
        <Failure message={error.message} requestId={requestIdOf(error)} onRetry={again} />
      </Page>
    )
  }
  return (
    <Page
      title={words.pages.home}
      actions={<ButtonLink to="/sessions/new">{words.sessions.begin}</ButtonLink>}
    >
      <Scroll>
        <FirstDaySteps onBegun={onSession} />
        <Panels>
          <Figures overview={overview.data} />
          <Panel title={own.asks} beside={own.oldestFirst}>
            <Lines
              sessions={asks.data?.data}
              none={own.noneAsks}
              about={({ waiting_on: wait, agent_name }) => `${agent_name} · ${wait?.text ?? ''}`}
              end={({ waiting_on: wait, updated_at }) => <Time at={wait?.since ?? updated_at} />}
            />
          </Panel>
          <Panel title={own.cost} beside={own.days}>
            <PanelBody>
              <CostOfDays days={overview.data.days} />
            </PanelBody>
          </Panel>
          <Panel
            title={own.running}
            beside={
              <Link to="/sessions" search={{ status: 'running' }}>
                {own.all}
              </Link>
            }
          >
            <Lines
              sessions={running.data?.data}
              none={own.noneRunning}
              about={runningAbout}
              end={({ active_seconds: seconds }) => <Duration ms={seconds * 1_000} />}
            />
          </Panel>
          <Panel
            title={own.failed}
            beside={
              <Link to="/sessions" search={{ failed: 'yes' }}>
                {own.all}
              </Link>
            }
          >
            <Lines
              sessions={failed.data?.data}
              none={own.noneFailed}
              about={({ failure }) => failure ?? ''}
              end={({ last_event, updated_at }) => (
                <Time at={last_event?.created_at ?? updated_at} />
              )}
            />
          </Panel>
        </Panels>
      </Scroll>
    </Page>
  )
}

/** The tool that runs now, or what the session waits for. */
const runningAbout = ({ agent_name, waiting_on: wait, last_event: last }: SessionSummary): string =>
  `${agent_name} · ${wait?.text ?? last?.tool ?? own.model}`

function Figures({ overview }: { overview: Overview }) {
  const { running, waiting, failed, cost_today: cost } = overview
  const [limit] = overview.spend_limits
  return (
    <FigureRow>
      <Figure name={own.running} more={waiting.queue > 0 ? own.queued(waiting.queue) : own.noQueue}>
        {running}
      </Figure>
      <Figure
        name={own.asks}
        meaning={waiting.person > 0 ? 'asks' : undefined}
        more={own.others(waiting.machine)}
      >
        {waiting.person}
      </Figure>
      <Figure
        name={own.failed}
        meaning={failed.sessions > 0 ? 'failed' : undefined}
        more={
          <>
            {own.since} <Time at={failed.since} />
            {waiting.money > 0 && ` · ${own.atBudget(waiting.money)}`}
          </>
        }
      >
        {failed.sessions}
      </Figure>
      <Figure
        name={own.costToday}
        more={
          limit?.amount
            ? own.limit(formatCost(Number(limit.amount) / 100), words.period[limit.period])
            : own.noLimit
        }
      >
        <Cost dollars={dollarsOf(cost)} />
      </Figure>
    </FigureRow>
  )
}

function Lines({
  sessions,
  none,
  about,
  end,
}: {
  sessions: readonly SessionSummary[] | undefined
  none: React.ReactNode
  about: (session: SessionSummary) => string
  end: (session: SessionSummary) => React.ReactNode
}) {
  if (!sessions) return <Skeleton rows={3} />
  if (sessions.length === 0) return <PanelEmpty>{none}</PanelEmpty>
  return sessions.map((session) => (
    <PanelLine
      key={session.id}
      sign={<StatusSign tone={stateOf(session).tone} />}
      name={<SessionLink id={session.id} title={shortTitleOf(session)} />}
      about={<span title={about(session)}>{about(session)}</span>}
      end={end(session)}
    />
  ))
}

function CostOfDays({ days }: { days: Overview['days'] }) {
  const values = days.map(({ list_cost: cost }) => dollarsOf(cost) ?? null)
  const known = values.filter((value) => value !== null)
  const isWhole = known.length === values.length
  if (known.every((value) => value === 0)) return <>{isWhole ? own.noCost : own.noPrices}</>
  const sum = known.reduce((all, each) => all + each, 0)
  return (
    <Plot
      label={own.costLabel(formatCost(sum))}
      kind="bars"
      times={days.map(({ date }) => Date.parse(date) / 1_000)}
      values={values}
      unit={formatCost}
    />
  )
}
