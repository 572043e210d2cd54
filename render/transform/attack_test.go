package transform_test
import ("testing";"strings";"reflect";"math/rand/v2";"fmt";"errors"
sigsyaml "sigs.k8s.io/yaml"
apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
"github.com/winnow-dev/winnow/api/v1alpha1"
"github.com/winnow-dev/winnow/render/transform")
type atk struct{*rand.Rand; n int}
func (g *atk) of(a ...string) string { return a[g.IntN(len(a))] }
func (g *atk) key() string { return g.of("a","b","c","d","e",`"a"`,`'b'`,"yes","no","on","1","1.0","true",`"true"`,"Yes","y","~x","? a\n", "0x10","16","010","8","1e3","a b","image","repository","registry","tag","name", "extraImages", "2021-01-01", strings.Repeat("k",130)) }
func (g *atk) scalar() string { return g.of("1","x","yes","no","off","~","","'x'","\"x\"","2021-01-01","010","1_000","0b1","1:30","quay.io/a/b:1","busybox","busybox:1.36","docker.io/x/y","\"quay.io/a/b:1\"","!!str 5","!!str yes","!!float 1","!custom x","\"a\\tb\"","|\n    text\n    more\n",">-\n    folded\n    text\n","|+\n    keep\n\n","[1, yes, {a: no}]","{a: yes, b: {c: on}}","[]","{}","\"{{ .Cluster.Name }}\"","a # c","\"multi\n   line\"","plain\n   multi", "1.10", "1e3", "+1", "0o7", ".5", "=", "<<", "\"<<\"","12345678901234567890","1.0","-0","0x1F", "\"\\u2028\"", "'a''b'") }
func (g *atk) lines(depth int) (out []string) {
 used := map[string]bool{}
 for range 1+g.IntN(5) {
  if g.IntN(10)==0 { out=append(out,"# comment") }
  if g.IntN(15)==0 { out=append(out,"") }
  if g.n>0 && g.IntN(4)==0 && !used["<<"] { used["<<"]=true; a:=func() string {return fmt.Sprintf("*m%d",1+g.IntN(g.n))}; out=append(out, "<<: "+g.of(a(),a(),"["+a()+", "+a()+"]","{a: 7, yes: 1}","[{a: 1}, "+a()+"]")); continue }
  k := g.key(); if strings.HasPrefix(k,"?") || used[k] { continue }; used[k]=true
  switch {
  case depth<3 && g.IntN(3)==0:
   h := k+":"; if g.IntN(2)==0 { h += fmt.Sprintf(" &m%d", g.n+1); sub := g.lines(depth+1); g.n++; h2:=h; out=append(out,h2); for _,l := range sub { out=append(out,"  "+l)}; continue }
   out=append(out,h); for _,l := range g.lines(depth+1) { out=append(out,"  "+l) }
  case depth<3 && g.IntN(5)==0:
   out=append(out,k+":"); ind := g.of("","  "); for range 1+g.IntN(3) { if g.IntN(3)==0 { sub:=g.lines(depth+1); for i,l := range sub { if i==0 { if l==""||l[0]=='#' {l="q: 1"}; out=append(out,ind+"- "+l)} else { out=append(out,ind+"  "+l)} } } else { s := g.scalar(); if strings.Contains(s,"\n") {s="z"}; out=append(out,ind+"- "+s) } }
  default:
   for i,l := range strings.Split(k+": "+g.scalar(),"\n") { _=i; out=append(out,l) }
  }
 }
 return out
}
func sigsRead(s string) (m map[string]any, err error) { err = sigsyaml.Unmarshal([]byte(s), &m); return }
func blockOf(doc []byte) (string, error) { var o struct{Spec struct{DefaultValuesBlock string `json:"defaultValuesBlock"`} `json:"spec"`}; err := sigsyaml.Unmarshal(doc,&o); return o.Spec.DefaultValuesBlock, err }
func TestAttackBlocks(t *testing.T) {
 overs := []string{`{"unrelated": 1}`, `{"a": {"zz": 1}}`, `{"true": 5}`, `{"8": 5}`, `{"b":{"c":{"d":"yes"}}}`, `{"a":"no"}`, `{"no":{"x":1}}`}
 ok, tried, bad := 0,0,0
 for seed := range uint64(60000) {
  g := &atk{rand.New(rand.NewPCG(seed,77)),0}
  block := g.of("","","---\n","# h\n","\n", "%YAML 1.1\n---\n","--- # x\n")+strings.Join(g.lines(0),"\n")+g.of("\n","","\n\n","\n---\nz: 1\n","\n...\n","\n...\nq: 1\n", "\n# end\n", "\n  \n","\n--- \n---\n a: 1\n")
  if g.IntN(12)==0 { block = strings.ReplaceAll(block,"\n","\r\n") }
  if g.IntN(12)==0 { block = "\ufeff"+block }
  before, err := sigsRead(block)
  if err != nil { continue }
  quoted, _ := sigsyaml.Marshal(map[string]any{"defaultValuesBlock": block})
  doc := head + "  " + strings.ReplaceAll(strings.TrimSuffix(string(quoted),"\n"),"\n","\n  ") + "\n"
  if b, err := blockOf([]byte(doc)); err != nil || b != block { continue }
  app, err := tryLoad([]byte(doc)); if err != nil { continue }
  over := overs[g.IntN(len(overs))]
  pipeline, err := transform.New(transform.Config{Values: []v1alpha1.ValuesRule{{Names: []string{"web"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(over)}}}})
  if err != nil { t.Fatal(err) }
  tried++
  out, err := pipeline.Apply(t.Context(), transform.Input{Application: app})
  if err != nil { if strings.Contains(err.Error(),"internal") { t.Errorf("seed %d %v:\n%q", seed, err, block) }; if !errors.Is(err, transform.ErrTemplates) && !strings.Contains(err.Error(),"twice") && !strings.Contains(err.Error(),"!custom") { if bad<0 {t.Log(err)} }; continue }
  ok++
  var ov map[string]any; _ = sigsyaml.Unmarshal([]byte(over), &ov)
  if before == nil { before = map[string]any{} }
  want := merged(before, ov, true)
  nb, err := blockOf(out.Document); if err != nil { t.Errorf("%v", err); continue }
  got, err := sigsRead(nb)
  if err != nil || !reflect.DeepEqual(got, want) { bad++; if bad<8 { t.Errorf("seed %d %s: err %v\nbefore %v\ngot  %v\nwant %v\n--- block\n%s\n--- now\n%s", seed, over, err, before, got, want, block, nb) } }
 }
 t.Logf("tried %d ok %d bad %d", tried, ok, bad)
}
