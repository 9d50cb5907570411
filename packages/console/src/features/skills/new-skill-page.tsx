import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Fields, FormBar, FormPanes } from '../../components/form-page.tsx'
import { Problem } from '../../components/layout.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { ListedSkill } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { useSkillCreate } from './skills.ts'
import { newUpload, UploadFields, uploadFields, whatIsMissing } from './upload-form.tsx'
import type { SkillUpload } from './upload.ts'
import { uploadCall } from './upload.ts'
import { skillWords, uploadWords as own } from './words.ts'

export function NewSkillPage({ onMade }: { onMade: (skill: ListedSkill) => void }) {
  const [upload, setUpload] = useState(newUpload)
  const create = useSkillCreate()
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, uploadFields)
  const change = (next: SkillUpload) => {
    create.reset()
    setUpload(next)
  }
  const sent = { ...upload, title: upload.title.trim() }
  const submit = () =>
    create.mutate(sent, {
      onSuccess: (skill) => {
        say({ kind: 'done', text: own.created(skill.display_title || skill.name) })
        onMade(skill)
      },
    })
  return (
    <Page title={own.title} crumbs={<Link to="/skills">{skillWords.title}</Link>}>
      <FormPanes
        refusal={create.error}
        form={
          <Fields>
            <Field
              label={own.name}
              hint={own.nameHint}
              value={upload.title}
              problem={fields['display_title']}
              onChange={(title) => setUpload({ ...upload, title })}
            />
            <UploadFields upload={upload} onUpload={change} fields={fields} />
          </Fields>
        }
        beside={
          <>
            <RequestView call={uploadCall(sent, '/v1/skills')} />
            <FormBar
              actions={
                <Button
                  kind="primary"
                  isBusy={create.isPending}
                  offBecause={readOnly ?? whatIsMissing(upload)}
                  onClick={submit}
                >
                  {own.create}
                </Button>
              }
            >
              <Problem text={rest} />
            </FormBar>
          </>
        }
      />
    </Page>
  )
}
