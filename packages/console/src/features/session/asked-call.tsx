/** Calls that wait for a person: each is decided here, or all of one tool together. */
import { lazy, Suspense, useState } from 'react'
import { AnswerCard } from '../../components/answer-card.tsx'
import { ApprovalCard } from '../../components/approval-card.tsx'
import { Button } from '../../components/button.tsx'
import { Row } from '../../components/layout.tsx'
import { Note } from '../../components/message.tsx'
import { useNoAnswerReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import type { Session } from '../../lib/api/types.ts'
import { words } from '../../lib/words.ts'
import { AskedAbout } from './asked-about.tsx'
import type { ToolCall } from './conversation.ts'
import { noteDecision } from './decided-here.ts'
import { answerOf, decisionOf, useAllowance, usePost } from './session.ts'
import { askedText } from './texts.ts'
import { useWholeInput } from './whole-event.ts'

const ApprovalList = lazy(async () => ({
  default: (await import('../../components/approval-list.tsx')).ApprovalList,
}))

/** What has to be known of a session to decide about its calls. */
export type AskingSession = Pick<Session, 'id' | 'agent' | 'vault_ids'>

type AskedProps = {
  call: ToolCall
  session: AskingSession
  /** The agent of a child thread that asks. */
  by?: string | undefined
}

/** A question in words, or the input of a tool whose result a person can give. */
export function AskedAnswer({ call, session }: { call: ToolCall; session: string }) {
  const post = usePost(session)
  const readOnly = useNoAnswerReason()
  const whole = useWholeInput(session, call)
  const { question } = whole.input
  const isQuestion = typeof question === 'string'
  return (
    <>
      <AnswerCard
        id={call.id}
        name={call.name}
        input={isQuestion ? question : askedText(call.name, whole.input)}
        isQuestion={isQuestion}
        isSending={post.isPending || post.isSuccess}
        offBecause={readOnly}
        onAnswer={(text) => post.mutate([answerOf(call.id, text)])}
      />
      {post.isError && <Note isFailure>{post.error.message}</Note>}
    </>
  )
}

/** What was decided is shown when the service says so, never before. Nothing is decided before all of it is seen. */
export function AskedCall({ call, session, by }: AskedProps) {
  const post = usePost(session.id)
  const readOnly = useNoAnswerReason()
  const allowance = useAllowance(session.id)
  const whole = useWholeInput(session.id, call)
  const [sending, setSending] = useState<'allow' | 'deny'>()
  const decide = (decision: { isAllowed: boolean; reason?: string | undefined }) => {
    setSending(decision.isAllowed ? 'allow' : 'deny')
    noteDecision(call.id, decision.isAllowed)
    post.mutate([decisionOf(call.id, decision)], { onError: () => setSending(undefined) })
  }
  const allowAlways = () =>
    allowance.mutate(
      { tool: call.name, isAllowed: true },
      {
        onSuccess: () => decide({ isAllowed: true }),
        onError: ({ message }) => say({ kind: 'failed', text: message }),
      },
    )
  return (
    <>
      <ApprovalCard
        id={call.id}
        name={call.name}
        input={askedText(call.name, whole.input)}
        by={by}
        about={<AskedAbout call={call} session={session} />}
        sending={sending}
        offBecause={readOnly ?? (whole.isWhole ? undefined : words.session.inputComes)}
        onDecide={decide}
        onAllowAlways={allowAlways}
      />
      {post.isError && <Note isFailure>{post.error.message}</Note>}
    </>
  )
}

/** Several calls of one tool, decided at once: the list of what they would do comes first. */
export function AskedTogether({ calls, session }: { calls: readonly ToolCall[]; session: string }) {
  const [isOpen, setOpen] = useState(false)
  const post = usePost(session)
  const readOnly = useNoAnswerReason()
  const [first] = calls
  if (!first || calls.length < 2) return null
  const decide = (isAllowed: boolean) =>
    post.mutate(
      calls.map(({ id }) => decisionOf(id, { isAllowed })),
      { onSuccess: () => setOpen(false) },
    )
  return (
    <Row>
      <Button size="small" offBecause={readOnly} onClick={() => setOpen(true)}>
        {words.session.decideAll(calls.length, first.name)}
      </Button>
      <Suspense>
        {isOpen && (
          <ApprovalList
            title={words.session.decideAll(calls.length, first.name)}
            inputs={calls.map(({ id, name, input, isCut }) => ({
              id,
              text: askedText(name, input),
              isCut,
            }))}
            isBusy={post.isPending}
            problem={post.error?.message}
            onDecide={decide}
            onClose={() => setOpen(false)}
          />
        )}
      </Suspense>
    </Row>
  )
}
