/** The dialogs of a member: another role, the removal, and leaving. Each says what becomes of the person's keys. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Check } from '../../components/choices.tsx'
import { Stack } from '../../components/layout.tsx'
import type { DepartedKey, Member, Role } from '../../lib/api/types.ts'
import { say } from '../../lib/toasts.ts'
import { isSmaller, useLeave, useMemberRemoval, useRoleChange } from './members.ts'
import { memberWords as own } from './words.ts'

/** What the service answers of the keys of somebody who may less now. */
export type KeysOf = { name: string; keys: DepartedKey[] }

type MemberDialogProps = {
  member: Member
  onClose: () => void
  /** Keys that still work are for the page to tell. */
  onDone: (left: KeysOf | undefined) => void
}

/** Says what was done, and which keys are left. */
function tell(
  text: string,
  { name }: Member,
  { keys, revoked }: { keys: DepartedKey[]; revoked: boolean },
): KeysOf | undefined {
  const isGone = revoked && keys.length > 0
  say({ kind: 'done', text: isGone ? `${text} ${own.keysGone(keys.length)}` : text })
  return revoked || keys.length === 0 ? undefined : { name, keys }
}

export function RoleDialog({ member, role, onClose, onDone }: MemberDialogProps & { role: Role }) {
  const change = useRoleChange()
  const [revokesKeys, setRevokesKeys] = useState(false)
  const { id, name } = member
  return (
    <AskBefore
      title={own.changeTitle(name, member.role, role)}
      verb={own.change}
      action={change}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { id, role, revokesKeys },
          { onSuccess: (answer) => onDone(tell(own.changed(name, role), member, answer)) },
        )
      }
    >
      <Stack gap="normal">
        {own.may[role]}
        {isSmaller(role, member.role) && (
          <KeysChoice text={own.keysStay(name)} isOn={revokesKeys} onChange={setRevokesKeys} />
        )}
      </Stack>
    </AskBefore>
  )
}

export function RemovalDialog({ member, onClose, onDone }: MemberDialogProps) {
  const removal = useMemberRemoval()
  const [revokesKeys, setRevokesKeys] = useState(false)
  const { id, name } = member
  return (
    <AskBefore
      title={own.removeOf(name)}
      verb={own.removeVerb}
      isDanger
      action={removal}
      onClose={onClose}
      onConfirm={() =>
        removal.mutate(
          { id, revokesKeys },
          { onSuccess: (answer) => onDone(tell(own.removed(name), member, answer)) },
        )
      }
    >
      <Stack gap="normal">
        {own.removeText(name)}
        <KeysChoice text={own.keysStay(name)} isOn={revokesKeys} onChange={setRevokesKeys} />
      </Stack>
    </AskBefore>
  )
}

export function LeaveDialog({ onClose }: { onClose: () => void }) {
  const leave = useLeave()
  const [revokesKeys, setRevokesKeys] = useState(false)
  return (
    <AskBefore
      title={own.leaveTitle}
      verb={own.leaveVerb}
      isDanger
      action={leave}
      onClose={onClose}
      onConfirm={() => leave.mutate(revokesKeys)}
    >
      <Stack gap="normal">
        {own.leaveText}
        <KeysChoice text={own.ownKeysStay} isOn={revokesKeys} onChange={setRevokesKeys} />
      </Stack>
    </AskBefore>
  )
}

const KeysChoice = ({
  text,
  isOn,
  onChange,
}: {
  text: ReactNode
  isOn: boolean
  onChange: (isOn: boolean) => void
}) => (
  <>
    <span>{text}</span>
    <Check label={own.revokeKeys} isOn={isOn} onChange={onChange} />
  </>
)
