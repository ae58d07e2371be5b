{# Fails for every equivalence class with fewer than l distinct values of a sensitive attribute. #}
{% test l_diverse(model, columns, sensitive, l=2) %}
select {% for column in columns %}{{ adapter.quote(column) }}, {% endfor %}count(distinct {{ adapter.quote(sensitive) }}) as diversity
from {{ model }}
group by {% for column in columns %}{{ adapter.quote(column) }}{{ ", " if not loop.last }}{% endfor %}

having count(distinct {{ adapter.quote(sensitive) }}) < {{ l | int }}
{% endtest %}
