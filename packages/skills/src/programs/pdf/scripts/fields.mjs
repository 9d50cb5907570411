/** Forms in a PDF: what they ask for, and answers. */
import { Refused } from './lib/cli.mjs'
import {
  PDFCheckBox,
  PDFDropdown,
  PDFOptionList,
  PDFRadioGroup,
  PDFTextField,
} from './lib/pdf-lib.mjs'

const kinds = [
  [
    PDFTextField,
    'text',
    (field) => field.getText() ?? '',
    (field, value) => field.setText(String(value)),
  ],
  [PDFCheckBox, 'checkbox', (field) => field.isChecked(), check],
  [PDFRadioGroup, 'radio', (field) => field.getSelected() ?? null, select],
  [PDFDropdown, 'dropdown', (field) => field.getSelected(), select],
  [PDFOptionList, 'list', (field) => field.getSelected(), select],
]

const kindOf = (field) => kinds.find(([type]) => field instanceof type)

function check(field, value) {
  if (typeof value !== 'boolean') throw new Refused(`${field.getName()}: is true or false`)
  if (value) field.check()
  else field.uncheck()
}

function select(field, value) {
  const options = field.getOptions()
  const wrong = [value].flat().find((each) => !options.includes(each))
  if (wrong !== undefined)
    throw new Refused(`${field.getName()}: ${wrong} is none of: ${options.join(', ')}`)
  field.select(value)
}

export const fieldsOf = (pdf) =>
  pdf
    .getForm()
    .getFields()
    .map((field) => {
      const [, kind = 'other', read] = kindOf(field) ?? []
      const options = typeof field.getOptions === 'function' ? { options: field.getOptions() } : {}
      return { name: field.getName(), kind, value: read?.(field) ?? null, ...options }
    })

export function fill(pdf, values, { isFlat }) {
  const form = pdf.getForm()
  const names = form.getFields().map((field) => field.getName())
  for (const [name, value] of Object.entries(values)) {
    const field = form.getFieldMaybe(name)
    if (!field) throw new Refused(`there is no field ${name}; there are: ${names.join(', ')}`)
    const kind = kindOf(field)
    if (!kind) throw new Refused(`${name}: a field of its kind cannot be filled here`)
    kind[3](field, value)
  }
  if (isFlat) form.flatten()
}
