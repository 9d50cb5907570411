/** Makes a vault, and gives another name to one. */
import { useState } from 'react'
import { Field } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Vault } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { useVaultCreate, useVaultRename } from './vaults.ts'
import { vaultWords as own } from './words.ts'

const fieldNames = ['display_name', 'name']

export function NewVault({
  onMade,
  onClose,
}: {
  onMade: (vault: Vault) => void
  onClose: () => void
}) {
  const [name, setName] = useState('')
  const create = useVaultCreate()
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, fieldNames)
  return (
    <FormDialog
      title={own.make}
      verb={own.makeVerb}
      isBusy={create.isPending}
      offBecause={readOnly ?? (name.trim() === '' ? own.nameMissing : undefined)}
      problem={rest}
      call={{
        method: 'POST',
        path: '/v1/vaults',
        client: 'beta.vaults.create',
        body: { display_name: name.trim() },
      }}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(name.trim(), {
          onSuccess: (vault) => {
            say({ kind: 'done', text: own.made(vault.display_name) })
            onMade(vault)
          },
        })
      }
    >
      <Field
        label={own.name}
        placeholder={own.namePlaceholder}
        value={name}
        problem={fields['display_name'] ?? fields['name']}
        onChange={setName}
      />
    </FormDialog>
  )
}

export function RenameVault({ vault, onClose }: { vault: Vault; onClose: () => void }) {
  const [name, setName] = useState(vault.display_name)
  const rename = useVaultRename(vault.id)
  const { fields, rest } = problemsOf(rename.error, fieldNames)
  return (
    <FormDialog
      title={own.renameTitle(vault.display_name)}
      verb={own.renameVerb}
      isBusy={rename.isPending}
      offBecause={name.trim() === '' ? own.nameMissing : undefined}
      problem={rest}
      call={{
        method: 'POST',
        path: `/v1/vaults/${vault.id}`,
        client: 'beta.vaults.update',
        args: [vault.id],
        body: { display_name: name.trim() },
      }}
      onClose={onClose}
      onSubmit={() =>
        rename.mutate(name.trim(), {
          onSuccess: (changed) => {
            say({ kind: 'done', text: own.renamed(changed.display_name) })
            onClose()
          },
        })
      }
    >
      <Field
        label={own.name}
        value={name}
        problem={fields['display_name'] ?? fields['name']}
        onChange={setName}
      />
    </FormDialog>
  )
}
