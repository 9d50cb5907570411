/** A new model card: the form, and beside it the call that makes it. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CreatePane } from '../../components/create-pane.tsx'
import { FormPanes } from '../../components/form-page.tsx'
import { Page } from '../../components/page.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { ModelCard } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { CardForm } from './card-form.tsx'
import { bodyOf, draftFields, newDraft, shownOf } from './draft.ts'
import { useCardCreate } from './models.ts'
import { modelWords as own } from './words.ts'

export function NewCardPage({ onCreated }: { onCreated: (card: ModelCard) => void }) {
  const [draft, setDraft] = useState(newDraft)
  const create = useCardCreate()
  const problems = problemsOf(create.error, draftFields)
  const body = bodyOf(draft)
  const call = { method: 'POST', path: '/v1/ext/model_cards', body: shownOf(body) } as const
  const submit = () =>
    create.mutate(body, {
      onSuccess: (card) => {
        say({ kind: 'done', text: own.created(card.model_id) })
        onCreated(card)
      },
    })
  return (
    <Page title={own.make} crumbs={<Link to="/models">{own.title}</Link>}>
      <FormPanes
        refusal={create.error}
        form={<CardForm draft={draft} onDraft={setDraft} problems={problems} />}
        beside={
          <CreatePane
            call={call}
            verb={own.create}
            isBusy={create.isPending}
            offBecause={useReadOnlyReason()}
            problem={problems.rest}
            onCreate={submit}
          />
        }
      />
    </Page>
  )
}
