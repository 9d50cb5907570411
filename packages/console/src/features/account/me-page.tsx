/** A person's own account: workspaces, sign-ins, the password, and the end of the account. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { Check } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { FieldRow } from '../../components/form-page.tsx'
import { Form, FormFoot } from '../../components/form.tsx'
import { Problem, Quiet, Stack } from '../../components/layout.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/notices.tsx'
import { Facts, Panel, PanelBody, PanelFoot } from '../../components/panel.tsx'
import { SettingsPage } from '../../components/settings-page.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Table } from '../../components/table.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Me } from '../../lib/api/types.ts'
import { serviceUrl, signInUrl } from '../../lib/place.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { accountQuery, useWorkspaceChoice, workspaceOf } from './account.ts'
import { SignInTable } from './sign-in-table.tsx'
import { useAccountDelete, usePasswordChange } from './sign-ins.ts'
import { accountWords as own } from './words.ts'

type OwnPerson = NonNullable<Me['user']>

export function MePage() {
  const query = useQuery(accountQuery)
  return (
    <SettingsPage title={own.title}>
      <Loaded query={query}>
        {(me) =>
          me.user === null ? (
            <Empty action={<FormFoot href={signInUrl()}>{own.toSignIn}</FormFoot>}>
              {own.byKey}
            </Empty>
          ) : (
            <>
              <Panel title={own.signIns} beside={own.signInsBeside}>
                <SignInTable />
              </Panel>
              <PasswordPanel />
              <Panel title={own.workspaces}>
                <WorkspaceTable me={me} />
              </Panel>
              <AccountPanel person={me.user} />
            </>
          )
        }
      </Loaded>
    </SettingsPage>
  )
}

type OwnWorkspace = Me['workspaces'][number]
const idOf = ({ id }: OwnWorkspace): string => id

function WorkspaceTable({ me }: { me: Me }) {
  const choice = useWorkspaceChoice()
  const shown = workspaceOf(me)?.id
  const columns: TableColumn<OwnWorkspace>[] = [
    { name: own.columns.workspace, isStrong: true, show: ({ name }) => name },
    { name: own.columns.role, width: 100, show: ({ role }) => words.roles[role] },
    {
      name: own.columns.state,
      width: 108,
      isNumber: true,
      show: ({ id, name, archived_at: archived }) => {
        if (id === shown) return <Quiet>{own.shown}</Quiet>
        if (archived !== null) return <Quiet>{own.archived}</Quiet>
        return (
          <Button
            kind="plain"
            size="small"
            title={own.showOf(name)}
            onClick={() => choice.mutate(id)}
          >
            {own.show}
          </Button>
        )
      },
    },
  ]
  return <Table label={own.workspaces} columns={columns} rows={me.workspaces} keyOf={idOf} />
}

const noPasswords = { current: '', next: '' }

function PasswordPanel() {
  const [typed, setTyped] = useState(noPasswords)
  const change = usePasswordChange()
  const { fields, rest } = problemsOf(change.error, ['current_password', 'new_password'])
  const isMissing = typed.current === '' || typed.next === ''
  const submit = () => {
    if (isMissing || change.isPending) return
    change.mutate(
      { current_password: typed.current, new_password: typed.next },
      {
        onSuccess: () => {
          setTyped(noPasswords)
          say({ kind: 'done', text: own.changed })
        },
      },
    )
  }
  return (
    <Panel title={own.password}>
      <Form onSubmit={submit}>
        <PanelBody>
          <FieldRow>
            <Field
              label={own.current}
              type="password"
              fills="current-password"
              problem={fields['current_password']}
              value={typed.current}
              onChange={(current) => setTyped({ ...typed, current })}
            />
            <Field
              label={own.next}
              type="password"
              fills="new-password"
              hint={own.nextHint}
              problem={fields['new_password']}
              value={typed.next}
              onChange={(next) => setTyped({ ...typed, next })}
            />
          </FieldRow>
        </PanelBody>
        <PanelFoot
          actions={
            <Button
              type="submit"
              kind="primary"
              isBusy={change.isPending}
              offBecause={isMissing ? own.both : undefined}
            >
              {own.change}
            </Button>
          }
        >
          <Problem text={rest}>
            <FormFoot href={`${serviceUrl}/signin/reset`}>{own.noPassword}</FormFoot>
          </Problem>
        </PanelFoot>
      </Form>
    </Panel>
  )
}

function AccountPanel({ person: { name, email } }: { person: OwnPerson }) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Panel title={own.account}>
      <PanelBody>
        <Facts
          facts={[
            [own.facts.name, name],
            [own.facts.email, email],
          ]}
        />
      </PanelBody>
      <PanelFoot
        actions={
          <Button kind="danger" onClick={() => setDeleting(true)}>
            {own.delete}
          </Button>
        }
      >
        <Quiet>{own.deleteHint}</Quiet>
      </PanelFoot>
      {isDeleting && <DeleteDialog email={email} onClose={() => setDeleting(false)} />}
    </Panel>
  )
}

function DeleteDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [revokesKeys, setRevokesKeys] = useState(false)
  const deletion = useAccountDelete()
  return (
    <AskBefore
      title={own.delete}
      verb={own.delete}
      isDanger
      action={deletion}
      offBecause={typed.trim().toLowerCase() === email ? undefined : own.confirmFirst}
      onClose={onClose}
      onConfirm={() => deletion.mutate({ email, revokesKeys })}
    >
      <Stack gap="normal">
        <span>
          {own.deleteHint} {own.deleteText}
        </span>
        <Field label={own.confirmLabel(email)} value={typed} onChange={setTyped} />
        <Check label={own.revokeKeys} isOn={revokesKeys} onChange={setRevokesKeys} />
      </Stack>
    </AskBefore>
  )
}
