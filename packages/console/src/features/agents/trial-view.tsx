/** A session with what the form says now, beside it. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Fields } from '../../components/form-page.tsx'
import { PaneFoot, PanePart, Problem, Quiet } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { environmentChoices } from '../../lib/api/choices.ts'
import type { Agent } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { useTrial } from './agents.ts'
import type { AgentDraft } from './draft.ts'
import { agentWords as own } from './words.ts'

type TrialViewProps = {
  agent: Agent
  draft: AgentDraft
  conversation: (session: string) => ReactNode
}

export function TrialView({ agent, draft, conversation }: TrialViewProps) {
  const [begun, setBegun] = useState<{ session: string; draft: AgentDraft }>()
  if (!begun)
    return (
      <PanePart>
        <TrialStart
          agent={agent}
          draft={draft}
          onBegin={(session) => setBegun({ session, draft })}
        />
      </PanePart>
    )
  return (
    <>
      {conversation(begun.session)}
      <PaneFoot
        end={
          <Button size="small" onClick={() => setBegun(undefined)}>
            {own.tryAgain}
          </Button>
        }
      >
        {begun.draft === draft ? '' : own.tryChanged}
      </PaneFoot>
    </>
  )
}

function TrialStart({
  agent,
  draft,
  onBegin,
}: Omit<TrialViewProps, 'conversation'> & { onBegin: (session: string) => void }) {
  const { data: environments } = useQuery(environmentChoices)
  const [chosen, setChosen] = useState<string>()
  const trial = useTrial()
  const readOnly = useReadOnlyReason()
  const environment = chosen ?? draft.environment_id ?? environments?.[0]?.id
  if (environments?.length === 0)
    return (
      <Empty action={<ButtonLink to="/environments/new">{own.makeEnvironment}</ButtonLink>}>
        {own.tryNeedsEnvironment}
      </Empty>
    )
  return (
    <Fields>
      <Quiet>{own.tryHint}</Quiet>
      <Combobox
        label={own.tryEnvironment}
        none={own.tryNeedsEnvironment}
        choices={(environments ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={environment ?? ''}
        onChange={setChosen}
      />
      <Problem text={trial.error?.message} />
      <div>
        <Button
          kind="yes"
          isBusy={trial.isPending}
          offBecause={readOnly ?? (environment === undefined ? own.tryNeedsEnvironment : undefined)}
          onClick={() =>
            environment !== undefined &&
            trial.mutate({ agent, draft, environment }, { onSuccess: ({ id }) => onBegin(id) })
          }
        >
          {own.tryStart}
        </Button>
      </div>
    </Fields>
  )
}
