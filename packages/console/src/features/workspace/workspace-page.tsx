/** The workspace that is shown: what it is, another name, and its end. */
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { Fields } from '../../components/form-page.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { PanelForm } from '../../components/panel-form.tsx'
import { Facts, Panel, PanelBody, PanelFoot } from '../../components/panel.tsx'
import { SettingsPage } from '../../components/settings-page.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Role, Workspace } from '../../lib/api/types.ts'
import { useNoAdminReason, useNoOwnerReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { useRename, useWorkspaceArchive, workspaceQuery } from './workspace.ts'
import { workspaceWords as own } from './words.ts'

export function WorkspacePage({ id, role }: { id: string; role: Role }) {
  const query = useQuery(workspaceQuery(id))
  return (
    <SettingsPage title={own.title}>
      <Loaded query={query}>
        {(workspace) => (
          <>
            <NamePanel workspace={workspace} role={role} />
            <EndPanel workspace={workspace} />
          </>
        )}
      </Loaded>
    </SettingsPage>
  )
}

function NamePanel({ workspace, role }: { workspace: Workspace; role: Role }) {
  const [name, setName] = useState(workspace.name)
  const rename = useRename(workspace.id)
  const noAdmin = useNoAdminReason()
  const { fields, rest } = problemsOf(rename.error, ['name'])
  return (
    <PanelForm
      title={own.about}
      call={{
        method: 'POST',
        path: `/v1/organizations/workspaces/${workspace.id}`,
        body: { name: name.trim() },
      }}
      verb={own.rename}
      isBusy={rename.isPending}
      offBecause={noAdmin ?? (name.trim() === workspace.name ? own.sameName : undefined)}
      problem={rest}
      onSubmit={() =>
        rename.mutate(name.trim(), {
          onSuccess: (renamed) => say({ kind: 'done', text: own.renamed(renamed.name) }),
        })
      }
    >
      <Stack>
        <Fields>
          <Field
            label={own.name}
            hint={own.nameHint}
            problem={fields['name']}
            value={name}
            isOff={noAdmin !== undefined}
            onChange={setName}
          />
        </Fields>
        <Facts
          facts={[
            [own.facts.id, <Id key="id" of={workspace.id} />],
            [own.facts.made, <Time key="made" at={workspace.created_at} />],
            [own.facts.role, words.roles[role]],
          ]}
        />
      </Stack>
    </PanelForm>
  )
}

function EndPanel({ workspace: { id, name } }: { workspace: Workspace }) {
  const [isArchiving, setArchiving] = useState(false)
  const [typed, setTyped] = useState('')
  const archive = useWorkspaceArchive(id)
  const noOwner = useNoOwnerReason()
  return (
    <Panel title={own.end}>
      <PanelBody>
        <Quiet>{own.archiveHint}</Quiet>
      </PanelBody>
      <PanelFoot
        actions={
          <Button kind="danger" offBecause={noOwner} onClick={() => setArchiving(true)}>
            {own.archive}
          </Button>
        }
      />
      <Suspense>
        {isArchiving && (
          <AskBefore
            title={own.archiveTitle(name)}
            verb={own.archiveVerb}
            isDanger
            action={archive}
            offBecause={typed.trim() === name ? undefined : own.confirmFirst}
            onClose={() => setArchiving(false)}
            onConfirm={() => archive.mutate()}
          >
            <Stack>
              {own.archiveText}
              <Field label={own.confirmLabel(name)} value={typed} onChange={setTyped} />
            </Stack>
          </AskBefore>
        )}
      </Suspense>
    </Panel>
  )
}
