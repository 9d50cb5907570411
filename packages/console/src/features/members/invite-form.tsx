/** Whom to invite and as what, and beside it the request. Then the link, once. */
import { useState } from 'react'
import { TimeLeft } from '../../components/figures.tsx'
import { Field } from '../../components/field.tsx'
import { Fields } from '../../components/form-page.tsx'
import { PanelForm } from '../../components/panel-form.tsx'
import { Facts } from '../../components/panel.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Select } from '../../components/select.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { InvitationCreateBody, InvitationWithLink, Role } from '../../lib/api/types.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { roles, useNoAdminReason, useNoOwnerReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import { useInvite } from './members.ts'
import { memberWords as own } from './words.ts'

export function InviteForm({
  onMade,
  onClose,
}: {
  onMade: (invitation: InvitationWithLink) => void
  onClose: () => void
}) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const invite = useInvite()
  const noAdmin = useNoAdminReason()
  const noOwner = useNoOwnerReason()
  const body: InvitationCreateBody = { ...(email.trim() !== '' && { email: email.trim() }), role }
  const { fields, rest } = problemsOf(invite.error, ['email', 'role'])
  return (
    <PanelForm
      title={own.newInvitation}
      call={{ method: 'POST', path: '/v1/ext/invitations', body: jsonOf(body) }}
      verb={own.create}
      isBusy={invite.isPending}
      offBecause={noAdmin}
      problem={rest}
      onSubmit={() => invite.mutate(body, { onSuccess: onMade })}
      onCancel={onClose}
    >
      <Fields>
        <Field
          label={own.fields.email}
          type="email"
          placeholder={own.fields.emailPlaceholder}
          hint={own.fields.emailHint}
          problem={fields['email']}
          value={email}
          onChange={setEmail}
          autoFocus
        />
        <Select
          label={own.fields.role}
          hint={own.may[role]}
          problem={fields['role']}
          choices={roles.map((value) => ({
            value,
            label: words.roles[value],
            ...(value === 'owner' && noOwner !== undefined && { offBecause: noOwner }),
          }))}
          value={role}
          onChange={setRole}
        />
      </Fields>
    </PanelForm>
  )
}

export const MadeInvitation = ({
  of: { url, email, role, mailed, expires_at: end },
  onDone,
}: {
  of: InvitationWithLink
  onDone: () => void
}) => (
  <SecretOnce title={own.made(email)} secret={url} onDone={onDone}>
    <Facts
      facts={[
        [own.facts.role, words.roles[role]],
        [own.facts.ends, <TimeLeft key="ends" at={end} isExpected />],
        [own.facts.letter, mailed && email !== null ? own.mailed(email) : own.notMailed],
      ]}
    />
  </SecretOnce>
)
