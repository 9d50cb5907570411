/** The people of the workspace, who is invited, and what each role may. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Facts, Panel, PanelBody, PanelEmpty, PanelFoot } from '../../components/panel.tsx'
import { SettingsPage } from '../../components/settings-page.tsx'
import type { Invitation, InvitationWithLink, Member, Role } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { roles, useIsAdmin, useNoAdminReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import { InvitationTable } from './invitation-table.tsx'
import { InviteForm, MadeInvitation } from './invite-form.tsx'
import type { KeysOf } from './member-changes.tsx'
import { LeaveDialog, RemovalDialog, RoleDialog } from './member-changes.tsx'
import { MemberTable } from './member-table.tsx'
import { invitationsQuery, membersQuery } from './members.ts'
import { memberWords as own } from './words.ts'

type OpenDialog =
  | { kind: 'role'; member: Member; role: Role }
  | { kind: 'remove'; member: Member }
  | { kind: 'leave' }

/** `me`: the id of who looks, where it is a person. */
export function MembersPage({ me }: { me: string | undefined }) {
  const [isInviting, setInviting] = useState(false)
  const [made, setMade] = useState<InvitationWithLink>()
  const [open, setOpen] = useState<OpenDialog>()
  const [left, setLeft] = useState<KeysOf>()
  const noAdmin = useNoAdminReason()
  const isAdmin = useIsAdmin()
  const { data: members } = useQuery(membersQuery)
  const invited = listStateOf(useInfiniteQuery({ ...invitationsQuery, enabled: isAdmin }))
  const close = () => setOpen(undefined)
  const finish = (keys: KeysOf | undefined) => {
    close()
    setLeft(keys)
  }
  const show = (invitation: InvitationWithLink) => {
    setInviting(false)
    setMade(invitation)
  }
  return (
    <SettingsPage
      title={own.title}
      beside={members && own.count(members.length, (invited.rows ?? []).filter(isOpen).length)}
      actions={
        isInviting || made ? undefined : (
          <Button kind="primary" offBecause={noAdmin} onClick={() => setInviting(true)}>
            {own.invite}
          </Button>
        )
      }
    >
      {isInviting && <InviteForm onClose={() => setInviting(false)} onMade={show} />}
      {made && <MadeInvitation of={made} onDone={() => setMade(undefined)} />}
      {left && <KeysLeft of={left} onDone={() => setLeft(undefined)} />}
      <Panel title={own.title}>
        <MemberTable
          me={me}
          onRole={(member, role) => setOpen({ kind: 'role', member, role })}
          onRemove={(member) => setOpen({ kind: 'remove', member })}
          onLeave={() => setOpen({ kind: 'leave' })}
        />
      </Panel>
      <Panel title={own.invitations} beside={own.invitationsBeside}>
        {noAdmin === undefined ? (
          <InvitationTable list={invited} onMade={show} />
        ) : (
          <PanelEmpty>{own.adminsAlone}</PanelEmpty>
        )}
      </Panel>
      <Panel title={own.rolesTitle}>
        <PanelBody>
          <Facts facts={roles.map((role) => [words.roles[role], own.may[role]])} />
        </PanelBody>
      </Panel>
      {open?.kind === 'role' && <RoleDialog {...open} onClose={close} onDone={finish} />}
      {open?.kind === 'remove' && (
        <RemovalDialog member={open.member} onClose={close} onDone={finish} />
      )}
      {open?.kind === 'leave' && <LeaveDialog onClose={close} />}
    </SettingsPage>
  )
}

const isOpen = ({ accepted_at: accepted, expires_at: end }: Invitation): boolean =>
  accepted === null && Date.parse(end) > Date.now()

const KeysLeft = ({ of: { name, keys }, onDone }: { of: KeysOf; onDone: () => void }) => (
  <Panel title={own.keysLeft(name)}>
    <PanelBody>{keys.map((key) => `${key.name} (${key.preview})`).join(', ')}</PanelBody>
    <PanelFoot
      actions={
        <>
          <Button kind="plain" onClick={onDone}>
            {own.understood}
          </Button>
          <ButtonLink to="/settings/keys">{own.toKeys}</ButtonLink>
        </>
      }
    >
      <Quiet>{own.keysLeftHint}</Quiet>
    </PanelFoot>
  </Panel>
)
