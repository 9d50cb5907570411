/** What a person does on a first day, until there are a few sessions or somebody hides it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { FirstDay, StartCard, StartCards } from '../../components/first-day.tsx'
import { Problem } from '../../components/layout.tsx'
import { agentChoices, modelChoices } from '../../lib/api/choices.ts'
import type { Model } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { firstWords as own } from './first-words.ts'
import { firstSessionsQuery } from './home.ts'
import type { AgentTemplate } from './templates.ts'
import { agentTemplates, useAgentTemplate } from './templates.ts'

const offline = 'offline'
const hiddenName = 'steward.first-day-hidden'

const readHidden = (): boolean => {
  try {
    return localStorage.getItem(hiddenName) === '1'
  } catch {
    return false
  }
}

/** With as many sessions a workspace is no longer new. */
const fewSessions = 5

export function FirstDaySteps({ onBegun }: { onBegun: (session: string) => void }) {
  const [isHidden, setHidden] = useState(readHidden)
  const { data: sessions } = useQuery(firstSessionsQuery)
  const { data: models } = useQuery(modelChoices)
  const { data: agents } = useQuery(agentChoices)
  if (isHidden || !sessions || !models || !agents || sessions.data.length >= fewSessions)
    return null
  const hide = () => {
    setHidden(true)
    try {
      localStorage.setItem(hiddenName, '1')
    } catch {
      // It stays hidden until the page is left.
    }
  }
  const first = sessions.data.at(-1)
  const model = models.find(({ id }) => id !== offline) ?? models[0]
  const step = (name: string, text: ReactNode, isDone: boolean) => ({
    name,
    text,
    isDone,
    doneWord: own.done,
  })
  return (
    <FirstDay
      title={own.title}
      hide={
        <Button size="small" kind="plain" onClick={hide}>
          {own.hide}
        </Button>
      }
      steps={[
        step(own.models, <ModelText models={models} />, models.length > 0),
        step(
          own.agent,
          agents.length > 0 ? (
            <Link to="/agents">{own.agentDone(agents.length)}</Link>
          ) : (
            <>
              {own.agentText}
              <Link to="/agents/new">{own.fromNothing}</Link>.
            </>
          ),
          agents.length > 0,
        ),
        step(
          own.run,
          first ? (
            <Link to="/sessions/$sessionId" params={{ sessionId: first.id }}>
              {own.runDone}
            </Link>
          ) : (
            own.runText
          ),
          first !== undefined,
        ),
        step(
          own.invite,
          <>
            {own.inviteText}
            <Link to="/settings/members">{own.toMembers}</Link>.
          </>,
          false,
        ),
      ]}
    >
      <StartCards title={own.templates} hint={model ? own.templatesHint(model.display_name) : ''}>
        {agentTemplates.map((template, at) => (
          <Template key={template.id} template={template} isFirst={at === 0} onBegun={onBegun} />
        ))}
      </StartCards>
    </FirstDay>
  )
}

/** The model that runs, and the way to another one. */
function ModelText({ models }: { models: readonly Model[] }) {
  const real = models.find(({ id }) => id !== offline)
  if (real) return own.modelsText(real.display_name)
  return (
    <>
      {models.length > 0 ? own.offlineText : own.noModelText}
      <Link to="/models/new">{own.addModel}</Link>.
    </>
  )
}

function Template({
  template,
  isFirst,
  onBegun,
}: {
  template: AgentTemplate
  isFirst: boolean
  onBegun: (session: string) => void
}) {
  const make = useAgentTemplate()
  const readOnly = useReadOnlyReason()
  const { title, text, works } = template
  return (
    <StartCard
      title={title}
      text={text}
      works={works}
      action={
        <>
          <Button
            kind={isFirst ? 'primary' : 'normal'}
            isBusy={make.isPending}
            offBecause={readOnly}
            onClick={() => make.mutate(template, { onSuccess: onBegun })}
          >
            {own.make}
          </Button>
          <Problem text={make.error?.message} />
        </>
      }
    />
  )
}
