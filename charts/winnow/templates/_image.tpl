{{- /* The reference of the image: a digest counts, and a tag beside it is for readers. */ -}}
{{- define "winnow.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}
