/** An environment: its workers where these are somebody's own, its configuration, its sessions. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { FormPanes } from '../../components/form-page.tsx'
import { Badge, Quiet, WhereWide } from '../../components/layout.tsx'
import { LoadedPage } from '../../components/loaded-page.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Banner } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { SaveBar } from '../../components/save-bar.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Unsaved } from '../../components/unsaved.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Environment } from '../../lib/api/types.ts'
import type { RecordForm } from '../../lib/changes.ts'
import { useRecordForm } from '../../lib/changes.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { takeYaml } from './draft-shape.ts'
import { draftFields, draftOf, updateOf } from './draft.ts'
import { EnvironmentForm } from './environment-form.tsx'
import type { EnvironmentTab } from './environments.ts'
import {
  environmentQuery,
  environmentTabs,
  useEnvironmentArchive,
  useEnvironmentDelete,
  useEnvironmentSave,
} from './environments.ts'
import { WorkersView } from './workers-view.tsx'
import { environmentWords as own } from './words.ts'

type EnvironmentPageProps = {
  id: string
  /** Undefined: the first that the environment has. */
  tab: EnvironmentTab | undefined
  onTab: (tab: EnvironmentTab) => void
  onGone: () => void
  onSession: (id: string) => void
  /** The sessions of the environment. */
  sessions: ReactNode
}

const crumbs = <Link to="/environments">{own.title}</Link>

export function EnvironmentPage(props: EnvironmentPageProps) {
  const query = useQuery(environmentQuery(props.id))
  return (
    <LoadedPage title={own.title} crumbs={crumbs} query={query}>
      {(environment) => <OpenEnvironment {...props} environment={environment} />}
    </LoadedPage>
  )
}

function OpenEnvironment({
  environment,
  tab,
  onTab,
  onGone,
  onSession,
  sessions,
}: EnvironmentPageProps & { environment: Environment }) {
  const { config, archived_at } = environment
  const isSelfHosted = config.type === 'self_hosted'
  const tabs = environmentTabs.filter((name) => isSelfHosted || name !== 'workers')
  const shown = tabs.find((name) => name === tab) ?? tabs[0] ?? 'config'
  const form = useRecordForm(environment, draftOf)
  return (
    <Page
      title={environment.name}
      crumbs={crumbs}
      beside={
        <WhereWide>
          <Badge>{own.kinds[config.type]}</Badge>
          <Quiet isSmall>
            <Time at={environment.updated_at} /> · <Id of={environment.id} />
          </Quiet>
        </WhereWide>
      }
      actions={<Actions environment={environment} onGone={onGone} />}
    >
      <Tabs
        label={own.views}
        tabs={tabs.map((name) => ({ name, label: own.tabs[name] }))}
        chosen={shown}
        onChoose={onTab}
      />
      {archived_at !== null && <Banner title={own.isArchived} />}
      {shown === 'workers' && <WorkersView environment={environment} onSession={onSession} />}
      {shown === 'config' && <Configuration environment={environment} form={form} />}
      <Unsaved isChanged={form.isChanged} />
      {shown === 'sessions' && sessions}
    </Page>
  )
}

type ArchiveOrDelete = 'archive' | 'remove'

function Actions({ environment, onGone }: { environment: Environment; onGone: () => void }) {
  const { id, name } = environment
  const isArchived = environment.archived_at !== null
  const [asked, setAsked] = useState<ArchiveOrDelete>()
  const archive = useEnvironmentArchive()
  const remove = useEnvironmentDelete()
  const readOnly = useReadOnlyReason()
  const item = (label: string, what: ArchiveOrDelete) => ({
    label,
    run: () => setAsked(what),
    ...(readOnly !== undefined && { offBecause: readOnly }),
  })
  const done = (text: string) => ({
    onSuccess: () => {
      say({ kind: 'done', text })
      onGone()
    },
  })
  return (
    <>
      <MoreMenu
        items={[
          ...(isArchived ? [] : [item(own.archive, 'archive')]),
          { ...item(own.remove, 'remove'), isDanger: true },
        ]}
      />
      {!isArchived && (
        <ButtonLink to="/sessions/new" search={{ environment: id }}>
          {own.newSession}
        </ButtonLink>
      )}
      {asked === 'archive' && (
        <AskBefore
          title={own.archiveTitle(name)}
          verb={own.archiveVerb}
          isDanger
          action={archive}
          onClose={() => setAsked(undefined)}
          onConfirm={() => archive.mutate(id, done(own.archivedNow(name)))}
        >
          {own.archiveText}
        </AskBefore>
      )}
      {asked === 'remove' && (
        <AskBefore
          title={own.removeTitle(name)}
          verb={own.removeVerb}
          isDanger
          action={remove}
          onClose={() => setAsked(undefined)}
          onConfirm={() => remove.mutate(id, done(own.removedNow(name)))}
        >
          {own.removeText}
        </AskBefore>
      )}
    </>
  )
}

type EnvironmentForm = RecordForm<Environment, ReturnType<typeof draftOf>>

function Configuration({ environment, form }: { environment: Environment; form: EnvironmentForm }) {
  const { base, draft, setDraft, begin, take } = form
  const save = useEnvironmentSave()
  const readOnly = useReadOnlyReason()
  const { id, archived_at } = environment
  const body = updateOf(draftOf(base), draft)
  const problems = problemsOf(save.error, draftFields)
  const saved = (next: Environment) => {
    take(next, draft)
    say({ kind: 'done', text: own.saved(next.name) })
  }
  return (
    <FormPanes
      refusal={save.error}
      form={<EnvironmentForm isNew={false} draft={draft} onDraft={setDraft} problems={problems} />}
      beside={
        <>
          <RequestView
            call={{
              method: 'POST',
              path: `/v1/environments/${id}`,
              client: 'beta.environments.update',
              args: [id],
              body: jsonOf(body),
            }}
            whole={jsonOf(draft)}
            onWhole={(whole) => takeYaml(whole, setDraft)}
          />
          <SaveBar
            count={Object.keys(body).length}
            isBusy={save.isPending}
            offBecause={archived_at === null ? readOnly : own.isArchived}
            problem={problems.rest}
            onDiscard={() => {
              save.reset()
              begin(environment)
            }}
            onSave={() => save.mutate({ id, body }, { onSuccess: saved })}
          />
        </>
      }
    />
  )
}
