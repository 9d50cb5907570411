/** Begins a session: whom it is with and where it runs, then what is to be done. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { ChosenField } from '../../components/chosen-field.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Field } from '../../components/field.tsx'
import { FieldRow, Fields, FormBar, FormPanes } from '../../components/form-page.tsx'
import { Problem } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { agentChoices, environmentChoices, vaultChoices } from '../../lib/api/choices.ts'
import type { Problems } from '../../lib/api/problems.ts'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Agent, SessionCreateBody } from '../../lib/api/types.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useNoAnswerReason, useReadOnlyReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import type { NewSession } from './new-session.ts'
import { bodyOf, sessionFields, useFirstEnvironment, useSessionCreate } from './new-session.ts'
import { newSessionWords as own } from './words.ts'

type NewSessionPageProps = {
  /** The agent that stands there at first. */
  agent: string | undefined
  /** The environment that stands there at first. */
  environment: string | undefined
  onBegun: (session: string) => void
}

const empty: NewSession = {
  agent: '',
  version: undefined,
  environment: undefined,
  vaults: [],
  title: '',
  message: '',
  budget: '',
}

export function NewSessionPage({ agent, environment, onBegun }: NewSessionPageProps) {
  const { data: agents } = useQuery(agentChoices)
  const { data: environments } = useQuery(environmentChoices)
  const [written, setWritten] = useState({ ...empty, agent: agent ?? '', environment })
  const create = useSessionCreate()
  const readOnly = useNoAnswerReason()
  const session = withDefaults(written, agents, environments)
  const chosen = agents?.find(({ id }) => id === session.agent)
  const problems = problemsOf(create.error, sessionFields)
  const body = bodyOf(session)
  const why = readOnly ?? whatIsMissing(session, chosen)
  const begin = () => {
    if (why === undefined) create.mutate(body, { onSuccess: ({ id }) => onBegun(id) })
  }
  return (
    <Page title={own.title} crumbs={<Link to="/sessions">{words.pages.sessions}</Link>}>
      {agents?.length === 0 ? (
        <Empty
          action={
            <ButtonLink kind="primary" to="/agents/new">
              {own.makeAgent}
            </ButtonLink>
          }
        >
          {own.needsAgent}
        </Empty>
      ) : (
        <FormPanes
          refusal={create.error}
          form={
            <SessionForm
              session={session}
              agents={agents ?? []}
              problems={problems}
              onSession={setWritten}
              onSubmit={begin}
            />
          }
          beside={
            <RequestOf
              body={body}
              problem={problems.rest}
              offBecause={why}
              isBusy={create.isPending}
              onSend={begin}
            />
          }
        />
      )}
    </Page>
  )
}

/** Where nothing was chosen yet, the first agent and the first environment stand in the form. */
function withDefaults(
  written: NewSession,
  agents: readonly Agent[] | undefined,
  environments: readonly { id: string }[] | undefined,
): NewSession {
  const agent = written.agent || (agents?.[0]?.id ?? '')
  const chosen = agents?.find(({ id }) => id === agent)
  const hasOwn = typeof chosen?.environment_id === 'string'
  return {
    ...written,
    agent,
    environment: written.environment ?? (hasOwn ? undefined : environments?.[0]?.id),
  }
}

function whatIsMissing(session: NewSession, agent: Agent | undefined): string | undefined {
  if (session.agent === '') return own.chooseAgent
  const hasPlace = session.environment !== undefined || typeof agent?.environment_id === 'string'
  return hasPlace ? undefined : own.chooseEnvironment
}

const RequestOf = ({
  body,
  problem,
  offBecause,
  isBusy,
  onSend,
}: {
  body: SessionCreateBody
  problem: string | undefined
  offBecause: string | undefined
  isBusy: boolean
  onSend: () => void
}) => (
  <>
    <RequestView
      call={{
        method: 'POST',
        path: '/v1/sessions',
        client: 'beta.sessions.create',
        body: jsonOf(body),
      }}
    />
    <FormBar
      actions={
        <Button kind="primary" isBusy={isBusy} offBecause={offBecause} onClick={onSend}>
          {own.start}
        </Button>
      }
    >
      <Problem text={problem} />
    </FormBar>
  </>
)

type SessionFormProps = {
  session: NewSession
  agents: readonly Agent[]
  problems: Problems
  onSession: (session: NewSession) => void
  onSubmit: () => void
}

function SessionForm({
  session,
  agents,
  problems: { fields },
  onSession,
  onSubmit,
}: SessionFormProps) {
  const set = (part: Partial<NewSession>) => onSession({ ...session, ...part })
  const agent = agents.find(({ id }) => id === session.agent)
  const versions = Array.from({ length: Math.min(agent?.version ?? 0, mostVersions) }, (_, at) =>
    String((agent?.version ?? 0) - at),
  )
  return (
    <Fields>
      <FieldRow>
        <Combobox
          label={own.agent}
          none={own.noAgents}
          placeholder={own.chooseAgent}
          problem={fields['agent']}
          choices={agents.map(({ id, name, version }) => ({
            value: id,
            label: name,
            beside: `@${version}`,
          }))}
          value={session.agent}
          onChange={(id) => set({ agent: id, version: undefined, environment: undefined })}
        />
        <Combobox
          key={session.agent}
          label={own.version}
          none={own.noAgents}
          choices={[
            { value: newest, label: own.newest(agent?.version ?? 1) },
            ...versions.map((value) => ({ value, label: value })),
          ]}
          value={session.version === undefined ? newest : String(session.version)}
          onChange={(version) => set({ version: version === newest ? undefined : Number(version) })}
        />
      </FieldRow>
      <EnvironmentField
        hasOwn={typeof agent?.environment_id === 'string'}
        value={session.environment}
        problem={fields['environment_id']}
        onChange={(environment) => set({ environment })}
      />
      <Field
        isLong
        label={own.message}
        placeholder={own.messagePlaceholder}
        hint={own.messageHint}
        value={session.message}
        problem={fields['initial_events']}
        onChange={(message) => set({ message })}
        onSubmit={onSubmit}
      />
      <VaultsField
        chosen={session.vaults}
        problem={fields['vault_ids']}
        onChange={(vaults) => set({ vaults })}
      />
      <FieldRow>
        <Field
          label={own.name}
          hint={own.nameHint}
          value={session.title}
          problem={fields['title']}
          onChange={(title) => set({ title })}
        />
        <Field
          label={own.budget}
          hint={own.budgetHint}
          placeholder={own.noBudget}
          unit={own.budgetUnit}
          value={session.budget}
          problem={fields['budget']}
          onChange={(budget) => set({ budget })}
        />
      </FieldRow>
    </Fields>
  )
}

const newest = 'newest'
const mostVersions = 50

function EnvironmentField({
  hasOwn,
  value,
  problem,
  onChange,
}: {
  hasOwn: boolean
  value: string | undefined
  problem: string | undefined
  onChange: (id: string | undefined) => void
}) {
  const { data: environments } = useQuery(environmentChoices)
  const first = useFirstEnvironment(own.firstEnvironment)
  const readOnly = useReadOnlyReason()
  if (environments?.length === 0)
    return (
      <Empty
        action={
          <Button offBecause={readOnly} isBusy={first.isPending} onClick={() => first.mutate()}>
            {own.makeEnvironment}
          </Button>
        }
      >
        <Problem text={first.error?.message}>{own.needsEnvironment}</Problem>
      </Empty>
    )
  const agents = 'agent'
  return (
    <Combobox
      label={own.environment}
      none={own.noEnvironments}
      placeholder={own.chooseEnvironment}
      problem={problem}
      choices={[
        ...(hasOwn ? [{ value: agents, label: own.environmentOfAgent }] : []),
        ...(environments ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value ?? (hasOwn ? agents : '')}
      onChange={(id) => onChange(id === agents ? undefined : id)}
    />
  )
}

function VaultsField({
  chosen,
  problem,
  onChange,
}: {
  chosen: readonly string[]
  problem: string | undefined
  onChange: (ids: readonly string[]) => void
}) {
  const { data: vaults = [] } = useQuery(vaultChoices)
  if (vaults.length === 0) return null
  return (
    <ChosenField
      label={own.vaults}
      hint={own.vaultsHint}
      add={own.addVault}
      none={own.noVaults}
      problem={problem}
      chosen={chosen.map((id) => ({
        id,
        name: vaults.find((each) => each.id === id)?.display_name ?? id,
      }))}
      choices={vaults.map(({ id, display_name }) => ({ value: id, label: display_name }))}
      onAdd={(id) => onChange([...chosen, id])}
      onRemove={(id) => onChange(chosen.filter((each) => each !== id))}
    />
  )
}
