import type { ReactNode } from 'react'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { PanelEmpty } from '../../components/panel.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { Invitation, InvitationWithLink } from '../../lib/api/types.ts'
import { formatAge } from '../../lib/format/times.ts'
import type { ListState } from '../../lib/list-state.ts'
import { minuteHand } from '../../lib/now.ts'
import { useStore } from '../../lib/store.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { useNewLink, useWithdrawal } from './members.ts'
import { memberWords as own } from './words.ts'

const idOf = ({ id }: Invitation): string => id
const nameOf = ({ email }: Invitation): string => email ?? own.anybody

type InvitationTableProps = {
  list: ListState<Invitation>
  onMade: (invitation: InvitationWithLink) => void
}

export function InvitationTable({ list, onMade }: InvitationTableProps) {
  const [ending, setEnding] = useState<Invitation>()
  const renew = useNewLink()
  const columns: TableColumn<Invitation>[] = [
    { name: own.columns.email, isStrong: true, show: nameOf },
    {
      name: own.columns.role,
      width: 84,
      from: 'phone',
      show: ({ role }) => words.roles[role],
    },
    {
      name: own.columns.state,
      width: 148,
      from: 'phone',
      show: (each) => <StateOf invitation={each} />,
    },
    {
      name: own.columns.actions,
      width: 184,
      isNumber: true,
      isNameHidden: true,
      show: (each) => each.accepted_at === null && actionsOf(each),
    },
  ]
  const actionsOf = (invitation: Invitation): ReactNode => (
    <>
      <Button
        kind="plain"
        size="small"
        title={own.newLinkOf(nameOf(invitation))}
        isBusy={renew.isPending && renew.variables.id === invitation.id}
        onClick={() =>
          renew.mutate(invitation, {
            onSuccess: onMade,
            onError: ({ message }) => say({ kind: 'failed', text: message }),
          })
        }
      >
        {own.newLink}
      </Button>
      <Button
        kind="plain"
        size="small"
        title={own.withdrawOf(nameOf(invitation))}
        onClick={() => setEnding(invitation)}
      >
        {own.withdraw}
      </Button>
    </>
  )
  return (
    <>
      <RecordTable
        label={own.invitations}
        list={list}
        columns={columns}
        keyOf={idOf}
        empty={<PanelEmpty>{own.noInvitation}</PanelEmpty>}
      />
      {ending && <Withdrawal of={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

function StateOf({ invitation }: { invitation: Invitation }) {
  const left = Date.parse(invitation.expires_at) - useStore(minuteHand)
  if (invitation.accepted_at !== null) return <Status tone="done">{own.states.accepted}</Status>
  if (left <= 0) return <Status tone="failed">{own.states.over}</Status>
  return <Status tone="queued">{own.states.open(formatAge(left))}</Status>
}

function Withdrawal({ of: invitation, onClose }: { of: Invitation; onClose: () => void }) {
  const withdrawal = useWithdrawal()
  return (
    <AskBefore
      title={own.withdrawOf(nameOf(invitation))}
      verb={own.withdrawVerb}
      isDanger
      action={withdrawal}
      onClose={onClose}
      onConfirm={() =>
        withdrawal.mutate(invitation.id, {
          onSuccess: () => {
            say({ kind: 'done', text: own.withdrawn })
            onClose()
          },
        })
      }
    >
      {own.withdrawText}
    </AskBefore>
  )
}
