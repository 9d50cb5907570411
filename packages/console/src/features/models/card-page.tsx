/** A model card: how its model is reached, whether it answers, and what it costs. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { FormPanes } from '../../components/form-page.tsx'
import { Badge, Quiet, ToolLine, WhereWide } from '../../components/layout.tsx'
import { LoadedPage } from '../../components/loaded-page.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Banner } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { SaveBar } from '../../components/save-bar.tsx'
import { Unsaved } from '../../components/unsaved.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import { modelQuery } from '../../lib/api/models.ts'
import type { ModelCard } from '../../lib/api/types.ts'
import { useRecordForm } from '../../lib/changes.ts'
import { factsOf } from '../../lib/model-facts.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { CardForm } from './card-form.tsx'
import { draftFields, draftOf, shownOf, updateOf } from './draft.ts'
import { cardQuery, useCardDelete, useCardProbe, useCardSave } from './models.ts'
import type { ProbeAnswer } from './probe-banner.tsx'
import { ProbeBanner } from './probe-banner.tsx'
import { modelWords as own } from './words.ts'

type CardPageProps = { id: string; onGone: () => void }

const crumbs = <Link to="/models">{own.title}</Link>

export function CardPage({ id, onGone }: CardPageProps) {
  const query = useQuery(cardQuery(id))
  return (
    <LoadedPage title={own.title} crumbs={crumbs} query={query}>
      {(card) => <OpenCard card={card} onGone={onGone} />}
    </LoadedPage>
  )
}

function OpenCard({ card, onGone }: { card: ModelCard; onGone: () => void }) {
  // What a write found out of the key is shown at first.
  const [answer, setAnswer] = useState<ProbeAnswer | undefined>(card.probe)
  const probe = useCardProbe()
  const readOnly = useReadOnlyReason()
  const { data: model } = useQuery(modelQuery(card.model_id))
  return (
    <Page
      title={card.model_id}
      crumbs={crumbs}
      beside={
        <WhereWide from="wide">
          <Badge>{card.provider}</Badge>
          <Quiet isSmall>
            <Time at={card.updated_at} /> · <Id of={card.id} />
          </Quiet>
        </WhereWide>
      }
      actions={
        <>
          <Removal card={card} onGone={onGone} />
          <WhereWide>
            <ButtonLink to="/agents/new" search={{ model: card.model_id }}>
              {own.makeAgent}
            </ButtonLink>
          </WhereWide>
          <Button
            isBusy={probe.isPending}
            offBecause={readOnly}
            onClick={() => probe.mutate(card.id, { onSuccess: setAnswer })}
          >
            {own.probe}
          </Button>
        </>
      }
      line={
        model &&
        factsOf(model) !== '' && (
          <ToolLine>
            <Quiet>{factsOf(model)}</Quiet>
          </ToolLine>
        )
      }
    >
      {probe.error && <Banner kind="failed" sign="failed" title={probe.error.message} />}
      {answer && (
        <ProbeBanner probe={answer} model={card.model_id} onClose={() => setAnswer(undefined)} />
      )}
      <Configuration card={card} onProbed={setAnswer} />
    </Page>
  )
}

function Removal({ card: { id, model_id }, onGone }: { card: ModelCard; onGone: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const remove = useCardDelete()
  const offBecause = useReadOnlyReason()
  return (
    <>
      <MoreMenu
        items={[
          {
            label: own.remove,
            isDanger: true,
            run: () => setAsked(true),
            ...(offBecause !== undefined && { offBecause }),
          },
        ]}
      />
      {isAsked && (
        <AskBefore
          title={own.removeTitle(model_id)}
          verb={own.removeVerb}
          isDanger
          action={remove}
          onClose={() => setAsked(false)}
          onConfirm={() =>
            remove.mutate(id, {
              onSuccess: () => {
                say({ kind: 'done', text: own.removedNow(model_id) })
                onGone()
              },
            })
          }
        >
          {own.removeText}
        </AskBefore>
      )}
    </>
  )
}

type ConfigurationProps = {
  card: ModelCard
  /** A write tries the key. */
  onProbed: (answer: ProbeAnswer | undefined) => void
}

function Configuration({ card, onProbed }: ConfigurationProps) {
  const { base, draft, isChanged, setDraft, begin, take } = useRecordForm(card, draftOf)
  const save = useCardSave()
  const readOnly = useReadOnlyReason()
  const body = updateOf(draftOf(base), draft)
  const problems = problemsOf(save.error, draftFields)
  const path = `/v1/ext/model_cards/${card.id}`
  const saved = (next: ModelCard) => {
    take(next, draft)
    onProbed(next.probe)
    say({ kind: 'done', text: own.saved(next.model_id) })
  }
  return (
    <FormPanes
      refusal={save.error}
      form={<CardForm card={card} draft={draft} onDraft={setDraft} problems={problems} />}
      beside={
        <>
          <Unsaved isChanged={isChanged} />
          <RequestView call={{ method: 'POST', path, body: shownOf(body) }} />
          <SaveBar
            count={Object.keys(body).length}
            isBusy={save.isPending}
            offBecause={readOnly}
            problem={problems.rest}
            onDiscard={() => {
              save.reset()
              begin(card)
            }}
            onSave={() => save.mutate({ id: card.id, body }, { onSuccess: saved })}
          />
        </>
      }
    />
  )
}
