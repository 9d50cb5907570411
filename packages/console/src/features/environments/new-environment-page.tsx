/** A new environment: the form, and beside it the call that makes it. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CreatePane } from '../../components/create-pane.tsx'
import { FormPanes } from '../../components/form-page.tsx'
import { Page } from '../../components/page.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Environment } from '../../lib/api/types.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { takeYaml } from './draft-shape.ts'
import { bodyOf, draftFields, newDraft } from './draft.ts'
import { EnvironmentForm } from './environment-form.tsx'
import { useEnvironmentCreate } from './environments.ts'
import { environmentWords as own } from './words.ts'

export function NewEnvironmentPage({
  onCreated,
}: {
  onCreated: (environment: Environment) => void
}) {
  const [draft, setDraft] = useState(newDraft)
  const create = useEnvironmentCreate()
  const readOnly = useReadOnlyReason()
  const body = bodyOf(draft)
  const problems = problemsOf(create.error, draftFields)
  const created = (environment: Environment) => {
    say({ kind: 'done', text: own.created(environment.name) })
    onCreated(environment)
  }
  return (
    <Page title={own.make} crumbs={<Link to="/environments">{own.title}</Link>}>
      <FormPanes
        refusal={create.error}
        form={<EnvironmentForm isNew draft={draft} onDraft={setDraft} problems={problems} />}
        beside={
          <CreatePane
            call={{
              method: 'POST',
              path: '/v1/environments',
              client: 'beta.environments.create',
              body: jsonOf(body),
            }}
            whole={jsonOf(draft)}
            onWhole={(whole) => takeYaml(whole, setDraft)}
            verb={own.create}
            isBusy={create.isPending}
            offBecause={readOnly}
            problem={problems.rest}
            onCreate={() => create.mutate(body, { onSuccess: created })}
          />
        }
      />
    </Page>
  )
}
