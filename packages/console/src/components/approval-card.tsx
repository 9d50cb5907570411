/** An agent asks before it acts: the whole input, and the buttons always in view. Keys act on the focused card alone. */
import type { KeyboardEvent, ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { words } from '../lib/words.ts'
import { AskingCard } from './asking-card.tsx'
import { Button } from './button.tsx'
import { HiddenShown } from './hidden-shown.tsx'

export type ApprovalCardProps = {
  id: string
  name: string
  /** Who asks, where several agents work. */
  by?: string | undefined
  input: string
  /** What else tells whether to approve it. */
  about?: ReactNode
  /** What is being sent. */
  sending: 'allow' | 'deny' | undefined
  /** Why this person may not answer. */
  offBecause?: string | undefined
  onDecide: (decision: { isAllowed: boolean; reason?: string | undefined }) => void
  /** Approves, and lets the tool run without asking from the next turn on. */
  onAllowAlways?: (() => void) | undefined
}

/** Attack: a card that appears under a finger is answered by what was meant for something else. */
const settleMs = 400

export function ApprovalCard(props: ApprovalCardProps) {
  const { id, name, by, input, about, sending, offBecause, onDecide, onAllowAlways } = props
  const [reason, setReason] = useState('')
  const [revised, setRevised] = useState<string>()
  const focusedAt = useRef(Number.POSITIVE_INFINITY)
  const appearedAt = useRef(Number.POSITIVE_INFINITY)
  useEffect(() => {
    appearedAt.current = performance.now()
  }, [])
  const says = by === undefined ? words.session.asksApproval : words.session.asksApprovalOf(by)
  const isOff = offBecause !== undefined || sending !== undefined
  const decide = (isAllowed: boolean) => {
    if (
      isOff ||
      (isAllowed && revised !== undefined) ||
      performance.now() - appearedAt.current < settleMs
    )
      return
    const why = [reason.trim(), revised === undefined ? '' : words.session.revisedReason(revised)]
    const said = why.filter((part) => part !== '').join('\n\n')
    onDecide({ isAllowed, ...(!isAllowed && said !== '' && { reason: said }) })
  }
  const allowAlways = () => {
    if (isOff || performance.now() - appearedAt.current < settleMs) return
    onAllowAlways?.()
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const isPlain = !event.metaKey && !event.ctrlKey && !event.altKey && !event.repeat
    const isOnCard = event.target === event.currentTarget
    if (!isPlain || !isOnCard || performance.now() - focusedAt.current < settleMs) return
    if (event.key === 'y') decide(true)
    if (event.key === 'n') decide(false)
  }
  return (
    <AskingCard
      id={id}
      name={name}
      says={says}
      onFocus={() => {
        focusedAt.current = performance.now()
      }}
      onKeyDown={press}
    >
      <ShownInput input={input} revised={revised} onRevised={setRevised} />
      {about}
      <Decision
        sending={sending}
        offBecause={offBecause}
        revised={revised}
        reason={reason}
        onReason={setReason}
        onDecide={decide}
        onRevise={() => setRevised(revised === undefined ? input : undefined)}
        onAllowAlways={onAllowAlways && revised === undefined ? allowAlways : undefined}
      />
    </AskingCard>
  )
}

/** The whole input, or what somebody would have in its place. */
const ShownInput = ({
  input,
  revised,
  onRevised,
}: {
  input: string
  revised: string | undefined
  onRevised: (text: string) => void
}) => (
  <>
    {revised !== undefined && (
      <textarea
        value={revised}
        autoFocus
        aria-label={words.session.revisedInput}
        spellCheck={false}
        onChange={({ target }) => onRevised(target.value)}
        className="field-sizing-content max-h-[40vh] min-h-16 w-full resize-none rounded-base border border-n6 bg-n1 px-3 py-2 font-mono text-small leading-[1.6] text-n11"
      />
    )}
    <pre
      tabIndex={0}
      hidden={revised !== undefined}
      aria-label={words.approvalInput}
      className="max-h-[40vh] overflow-auto rounded-base border bg-n1 px-3 py-2 font-mono text-small leading-[1.6] whitespace-pre-wrap text-n11"
    >
      <HiddenShown text={input} />
    </pre>
  </>
)

/** What belongs together stays in one line. */
const buttons = 'flex items-center justify-end gap-2 max-phone:w-full'

type DecisionProps = Pick<ApprovalCardProps, 'sending' | 'offBecause' | 'onAllowAlways'> & {
  revised: string | undefined
  reason: string
  onReason: (text: string) => void
  onRevise: () => void
  onDecide: (isAllowed: boolean) => void
}

function Decision(props: DecisionProps) {
  const { sending, offBecause, onAllowAlways, revised, reason, onReason, onRevise, onDecide } =
    props
  const deny = revised === undefined ? words.session.deny : words.session.denyRevised
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 max-phone:[&_button]:h-11 max-phone:[&_button]:flex-1">
      <input
        value={reason}
        onChange={({ target }) => onReason(target.value)}
        placeholder={words.session.denyReason}
        aria-label={words.session.denyReason}
        autoComplete="off"
        className="h-7 min-w-[160px] flex-1 rounded-base border border-n6 bg-n1 px-2.5 text-n11 @max-[620px]:basis-full max-phone:h-9"
      />
      <span className={buttons}>
        <Button kind="plain" offBecause={offBecause} onClick={onRevise}>
          {revised === undefined ? words.session.revise : words.session.keepInput}
        </Button>
        {onAllowAlways && (
          <Button kind="plain" offBecause={offBecause} onClick={onAllowAlways}>
            {words.session.allowAlways}
          </Button>
        )}
      </span>
      <span className={buttons}>
        <Button
          keys="N"
          offBecause={offBecause}
          isBusy={sending === 'deny'}
          onClick={() => onDecide(false)}
        >
          {sending === 'deny' ? words.session.denying : deny}
        </Button>
        <Button
          kind="yes"
          keys="Y"
          offBecause={
            offBecause ?? (revised === undefined ? undefined : words.session.revisedFirst)
          }
          isBusy={sending === 'allow'}
          onClick={() => onDecide(true)}
        >
          {sending === 'allow' ? words.session.approving : words.session.approve}
        </Button>
      </span>
    </div>
  )
}
