/** An agent: its configuration beside what will be sent or beside a trial, its versions, its sessions. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Suspense, useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { FormPanes } from '../../components/form-page.tsx'
import { Badge, Quiet, WhereWide } from '../../components/layout.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Banner, Failure, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { SaveBar } from '../../components/save-bar.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Unsaved } from '../../components/unsaved.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Agent } from '../../lib/api/types.ts'
import { isConflict, requestIdOf } from '../../lib/failures.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { AgentForm } from './agent-form.tsx'
import { agentQuery, useAgentArchive, useAgentSave } from './agents.ts'
import { takeYaml } from './draft-shape.ts'
import type { AgentDraft } from './draft.ts'
import { changesOf, draftFields, draftOf } from './draft.ts'
import type { AgentTab } from './tabs.ts'
import { agentTabs } from './tabs.ts'
import { TrialView } from './trial-view.tsx'
import { VersionsView } from './versions-view.tsx'
import { agentWords as own } from './words.ts'

type AgentPageProps = {
  id: string
  tab: AgentTab
  onTab: (tab: AgentTab) => void
  onArchived: () => void
  /** The sessions of the agent. */
  sessions: ReactNode
  /** The conversation of a trial. */
  trial: (session: string) => ReactNode
}

export function AgentPage(props: AgentPageProps) {
  const query = useQuery(agentQuery(props.id))
  if (query.data) return <OpenAgent {...props} agent={query.data} />
  return (
    <Page title={own.title}>
      {query.isError ? (
        <Failure
          message={query.error.message}
          requestId={requestIdOf(query.error)}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

function OpenAgent({
  agent,
  tab,
  onTab,
  onArchived,
  sessions,
  trial,
}: AgentPageProps & { agent: Agent }) {
  const form = useAgentDraft(agent)
  const [isArchiving, setArchiving] = useState(false)
  const archive = useAgentArchive()
  const readOnly = useReadOnlyReason()
  const isArchived = agent.archived_at !== null
  return (
    <Page
      title={agent.name}
      crumbs={<Link to="/agents">{own.title}</Link>}
      beside={
        <WhereWide>
          <Badge>{own.versionIs(agent.version)}</Badge>
          <Quiet isSmall>
            <Time at={agent.updated_at} /> · <Id of={agent.id} />
          </Quiet>
        </WhereWide>
      }
      actions={
        isArchived ? undefined : (
          <>
            <MoreMenu
              items={[
                {
                  label: own.archiveVerb,
                  isDanger: true,
                  ...(readOnly !== undefined && { offBecause: readOnly }),
                  run: () => setArchiving(true),
                },
              ]}
            />
            <ButtonLink to="/sessions/new" search={{ agent: agent.id }}>
              {own.newSession}
            </ButtonLink>
          </>
        )
      }
    >
      <Tabs
        label={own.views}
        tabs={agentTabs.map((name) => ({ name, label: own.tabs[name] }))}
        chosen={tab}
        onChoose={onTab}
      />
      <Unsaved isChanged={form.isChanged} />
      {isArchived && <Banner title={own.isArchived} />}
      {tab === 'config' && <Configuration agent={agent} form={form} trial={trial} />}
      {tab === 'versions' && (
        <VersionsView
          id={agent.id}
          onRestore={
            isArchived
              ? undefined
              : (version) => {
                  form.setDraft(draftOf(version))
                  onTab('config')
                }
          }
        />
      )}
      {tab === 'sessions' && sessions}
      <Suspense>
        {isArchiving && (
          <AskBefore
            title={own.archiveTitle(agent.name)}
            verb={own.archiveVerb}
            isDanger
            action={archive}
            onClose={() => setArchiving(false)}
            onConfirm={() =>
              archive.mutate(agent.id, {
                onSuccess: () => {
                  say({ kind: 'done', text: own.archivedNow(agent.name) })
                  onArchived()
                },
              })
            }
          >
            {own.archiveText}
          </AskBefore>
        )}
      </Suspense>
    </Page>
  )
}

type AgentFormState = {
  /** The version that the draft began with. */
  base: Agent
  draft: AgentDraft
  setDraft: (draft: AgentDraft) => void
  isChanged: boolean
  /** Begins again with this version. */
  begin: (agent: Agent) => void
  take: (saved: Agent, sent: AgentDraft) => void
  /** Puts what was written onto the newest version. */
  rebase: () => void
}

/** What was written stays when somebody saves another version; without changes the form follows. */
function useAgentDraft(agent: Agent): AgentFormState {
  const [base, setBase] = useState(agent)
  const [draft, setDraft] = useState(() => draftOf(agent))
  const isChanged = Object.keys(changesOf(draftOf(base), draft)).length > 0
  const begin = (next: Agent) => {
    setBase(next)
    setDraft(draftOf(next))
  }
  /** What was written while it was saved stays. */
  const take = (saved: Agent, sent: AgentDraft) => {
    setBase(saved)
    setDraft((now) => (now === sent ? draftOf(saved) : now))
  }
  if (agent.version !== base.version && !isChanged) begin(agent)
  return { base, draft, isChanged, setDraft, begin, take, rebase: () => setBase(agent) }
}

function Configuration({
  agent,
  form: { base, draft, setDraft, begin, take, rebase },
  trial,
}: {
  agent: Agent
  form: AgentFormState
  trial: AgentPageProps['trial']
}) {
  const [beside, setBeside] = useState<'request' | 'try'>('request')
  const save = useAgentSave()
  const readOnly = useReadOnlyReason()
  const changes = changesOf(draftOf(base), draft)
  const count = Object.keys(changes).length
  const problems = problemsOf(save.error, draftFields)
  const isOvertaken = agent.version !== base.version || isConflict(save.error)
  const call = (body: AgentDraft) =>
    ({
      method: 'POST',
      path: `/v1/agents/${agent.id}`,
      client: 'beta.agents.update',
      args: [agent.id],
      body: { version: base.version, ...jsonOf(body) },
    }) as const
  const discard = () => {
    save.reset()
    begin(agent)
  }
  const submit = () =>
    save.mutate(
      { id: agent.id, version: base.version, changes },
      {
        onSuccess: (saved) => {
          take(saved, draft)
          say({ kind: 'done', text: own.saved(saved.name, saved.version) })
        },
      },
    )
  return (
    <>
      {isOvertaken && (
        <Overtaken
          version={agent.version}
          onDiscard={discard}
          onRebase={() => {
            save.reset()
            rebase()
          }}
        />
      )}
      <FormPanes
        refusal={save.error}
        form={<AgentForm draft={draft} onDraft={setDraft} problems={problems} id={agent.id} />}
        tabs={{
          label: own.beside,
          tabs: [
            { name: 'request', label: own.request },
            { name: 'try', label: own.tryIt },
          ],
          chosen: beside,
          onChoose: setBeside,
        }}
        beside={
          <>
            {beside === 'request' ? (
              <RequestView
                call={call(changes)}
                before={call(valuesOf(base, changes))}
                whole={jsonOf(draft)}
                onWhole={(body) => takeYaml(body, setDraft)}
              />
            ) : (
              <TrialView agent={agent} draft={draft} conversation={trial} />
            )}
            <SaveBar
              count={count}
              said={own.fieldsDiffer(count, base.version)}
              verb={own.save(base.version + 1)}
              isBusy={save.isPending}
              offBecause={agent.archived_at === null ? readOnly : own.isArchived}
              problem={isConflict(save.error) ? undefined : problems.rest}
              onDiscard={discard}
              onSave={submit}
            />
          </>
        }
      />
    </>
  )
}

/** The same fields as they are now: so that a change is marked, and not all that is sent. */
const valuesOf = (base: Agent, changes: AgentDraft): AgentDraft => {
  const now = new Map(Object.entries(draftOf(base)))
  return Object.fromEntries(Object.keys(changes).map((field) => [field, now.get(field) ?? null]))
}

const Overtaken = ({
  version,
  onDiscard,
  onRebase,
}: {
  version: number
  onDiscard: () => void
  onRebase: () => void
}) => (
  <Banner
    sign="asks"
    title={own.overtaken}
    actions={
      <>
        <Button size="small" onClick={onDiscard}>
          {own.discard}
        </Button>
        <Button size="small" onClick={onRebase}>
          {own.rebase(version)}
        </Button>
      </>
    }
  />
)
