/** A new agent: the form, and beside it the call that makes it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { FormBar, FormPanes } from '../../components/form-page.tsx'
import { Problem } from '../../components/layout.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { Unsaved } from '../../components/unsaved.tsx'
import { modelChoices } from '../../lib/api/choices.ts'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Agent } from '../../lib/api/types.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { AgentForm } from './agent-form.tsx'
import { useAgentCreate } from './agents.ts'
import { takeYaml } from './draft-shape.ts'
import type { AgentDraft } from './draft.ts'
import { bodyOf, draftFields, newDraft } from './draft.ts'
import { agentWords as own } from './words.ts'

/** A model that thinks of a person's own key comes before the one that needs no network. */
const offline = 'offline'

type NewAgentPageProps = {
  /** The model that stands there at first. */
  model: string | undefined
  onCreated: (agent: Agent) => void
}

export function NewAgentPage({ model, onCreated }: NewAgentPageProps) {
  const { data: models } = useQuery(modelChoices)
  const [written, setWritten] = useState(newDraft)
  const create = useAgentCreate()
  const readOnly = useReadOnlyReason()
  const first = models && (models.find(({ id }) => id !== offline) ?? models[0])?.id
  const begins = model ?? first
  // Until a model was chosen, the first that runs here stands in the form.
  const draft: AgentDraft =
    written.model === '' && begins !== undefined ? { ...written, model: begins } : written
  const setDraft = (next: AgentDraft) =>
    setWritten(next.model === draft.model && written.model === '' ? { ...next, model: '' } : next)
  const body = bodyOf(draft)
  const problems = problemsOf(create.error, draftFields)
  const submit = () =>
    create.mutate(
      { ...body, name: draft.name ?? '', model: draft.model ?? '' },
      {
        onSuccess: (agent) => {
          say({ kind: 'done', text: own.created(agent.name) })
          onCreated(agent)
        },
      },
    )
  return (
    <Page title={own.make} crumbs={<Link to="/agents">{own.title}</Link>}>
      <Unsaved isChanged={written !== newDraft} within="/agents/" />
      <FormPanes
        refusal={create.error}
        form={<AgentForm draft={draft} onDraft={setDraft} problems={problems} />}
        beside={
          <>
            <RequestView
              call={{
                method: 'POST',
                path: '/v1/agents',
                client: 'beta.agents.create',
                body: jsonOf(body),
              }}
              whole={jsonOf(draft)}
              onWhole={(whole) => takeYaml(whole, setWritten)}
            />
            <FormBar
              actions={
                <Button
                  kind="primary"
                  isBusy={create.isPending}
                  offBecause={readOnly}
                  onClick={submit}
                >
                  {own.create}
                </Button>
              }
            >
              <Problem text={problems.rest} />
            </FormBar>
          </>
        }
      />
    </Page>
  )
}
